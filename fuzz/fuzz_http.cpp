// Any bytes are a request within the limits, refused with a status, or wait for more; and they are
// the same request whatever the pieces they come in.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tools/http/request_reader.h"

namespace {

using namespace penstock::http;

const Limits kLimits = {.body_bytes = 200, .header_bytes = 400, .num_headers = 8};

struct Outcome {
  int status = -1;  // it waits for more; 0: a request
  std::string body;
};

/// A connection's loop, with pieces of this size.
Outcome read(std::string_view bytes, std::size_t piece) {
  RequestReader reader(kLimits, 80);
  std::string pending;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    pending += bytes.substr(0, piece);
    std::size_t taken = 1;
    while (taken > 0 && !pending.empty()) {
      taken = reader.read(pending);
      if (reader.refusal()) { return {reader.refusal()->status, {}}; }
      if (taken > pending.size()) { std::abort(); }
      pending.erase(0, taken);
      if (reader.request().body.size() > kLimits.body_bytes) { std::abort(); }
      if (reader.done()) { return {0, reader.take().body}; }
    }
  }
  return {};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) { return 0; }
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Outcome whole = read(bytes, bytes.size() + 1);
  const Outcome parts = read(bytes, 1 + data[0] % 16);
  // What is wrong may show sooner or later.
  if ((whole.status == 0) != (parts.status == 0) || whole.body != parts.body) { std::abort(); }
  return 0;
}
