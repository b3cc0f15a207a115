#include "tools/http/local_site.h"

#include <algorithm>
#include <array>
#include <string>

namespace penstock::http {
namespace {

constexpr int kDefaultPort = 80;  // not told by clients
constexpr std::string_view kScheme = "http://";

bool same_name(std::string_view a, std::string_view b) {
  const auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

bool is_local_host(std::string_view host, int port) {
  constexpr std::array<std::string_view, 3> kNames = {"127.0.0.1", "localhost", "[::1]"};
  const std::string tail = ":" + std::to_string(port);
  return std::any_of(kNames.begin(), kNames.end(), [&](std::string_view name) {
    return same_name(host, std::string(name) + tail) ||
           (port == kDefaultPort && same_name(host, name));
  });
}

bool is_local_origin(std::string_view origin, int port) {
  return same_name(origin.substr(0, kScheme.size()), kScheme) &&
         is_local_host(origin.substr(kScheme.size()), port);
}

}  // namespace penstock::http
