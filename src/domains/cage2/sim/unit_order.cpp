#include "penstock/domains/cage2/sim/unit_order.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "penstock/core/base/errors.h"

namespace penstock::cage2 {
namespace {

constexpr std::array<std::string_view, kNumTypes> kTypeNames = {"defender", "enterprise",
                                                                "op_server", "op_host", "user"};

constexpr std::array<UnitType, kNumHosts> kTypes = [] {
  std::array<UnitType, kNumHosts> types{};
  types.fill(UnitType::user);
  types[host::kDefender] = UnitType::defender;
  for (const std::uint8_t h : {host::kEnterprise0, host::kEnterprise1, host::kEnterprise2}) {
    types[h] = UnitType::enterprise;
  }
  for (std::uint8_t h = host::kOpHost0; h < host::kOpServer0; ++h) { types[h] = UnitType::op_host; }
  types[host::kOpServer0] = UnitType::op_server;
  return types;
}();

constexpr TypeSet type_bit(int type) { return 1U << type; }

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  throw ConfigError(
      "env.order = " + text + ": " + why +
      "; expected each of defender, enterprise, op_server, op_host and user once, the "
      "most urgent first, with commas; for cage2_workflow also random");
}

int type_number(const std::string& text, std::string_view word) {
  const auto* found = std::ranges::find(kTypeNames, word);
  if (found == kTypeNames.end()) {
    const std::vector<std::string> names(kTypeNames.begin(), kTypeNames.end());
    refuse(text, std::string(word) + " is not a type of hosts" + did_you_mean(word, names));
  }
  return found - kTypeNames.begin();
}

std::string_view trimmed(std::string_view word) {
  while (!word.empty() && word.front() == ' ') { word.remove_prefix(1); }
  while (!word.empty() && word.back() == ' ') { word.remove_suffix(1); }
  return word;
}

}  // namespace

std::string_view type_name(UnitType type) { return kTypeNames[static_cast<std::size_t>(type)]; }

UnitType type_of(std::uint8_t host) { return kTypes[host]; }

TypeSet types_of(HostSet hosts) {
  TypeSet types = 0;
  for (; hosts != 0; hosts &= hosts - 1) {
    types |= type_bit(static_cast<int>(kTypes[std::countr_zero(hosts)]));
  }
  return types;
}

bool is_order(const Order& order) {
  TypeSet seen = 0;
  for (const int type : order) {
    if (type < 0 || type >= static_cast<int>(kNumTypes)) { return false; }
    seen |= type_bit(type);
  }
  return std::popcount(seen) == static_cast<int>(kNumTypes);
}

Order order_of(const std::string& text) {
  Order order{};
  std::string_view rest = text;
  for (std::size_t i = 0; i < kNumTypes; ++i) {
    const std::size_t comma = rest.find(',');
    if ((comma == std::string_view::npos) != (i + 1 == kNumTypes)) {
      refuse(text, "there are five types");
    }
    order[i] = type_number(text, trimmed(rest.substr(0, comma)));
    rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
  }
  if (!is_order(order)) { refuse(text, "a type comes twice"); }
  return order;
}

std::string order_name(const Order& order) {
  std::string name;
  for (const int type : order) {
    if (!name.empty()) { name += ','; }
    name += type_name(static_cast<UnitType>(type));
  }
  return name;
}

void write_order(const Order& order, std::span<float> row) {
  std::ranges::fill(row, 0.0F);
  for (std::size_t i = 0; i < kNumTypes; ++i) { row[i * kNumTypes + order[i]] = 1.0F; }
}

HostSet most_urgent(const Order& order, HostSet hosts) {
  HostSet of_type = 0;
  for (const int type : order) {
    for (HostSet left = hosts; left != 0; left &= left - 1) {
      const auto host = static_cast<std::uint8_t>(std::countr_zero(left));
      if (static_cast<int>(type_of(host)) == type) { of_type |= bit(host); }
    }
    if (of_type != 0) { break; }
  }
  return of_type;
}

}  // namespace penstock::cage2
