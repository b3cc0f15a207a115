#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "penstock/domains/cage2/sim/network.h"

/// Orders of the types of hosts, by which repairs may be judged or masked.
namespace penstock::cage2 {

/// The five types of units.
/// One or more of the 13 hosts each; the numbers are those of Order.
enum class UnitType : std::uint8_t { defender, enterprise, op_server, op_host, user };
constexpr std::size_t kNumTypes = 5;
constexpr std::size_t kOrderSize = kNumTypes * kNumTypes;

/// A set of types, bit t for type t.
using TypeSet = std::uint8_t;

/// The types (as numbers) by priority: order[0] is to be repaired first.
using Order = std::array<int, kNumTypes>;

/// "op_server"; static memory.
std::string_view type_name(UnitType type);
/// `host` below kNumHosts.
UnitType type_of(std::uint8_t host);
/// The types that have a host in the set.
TypeSet types_of(HostSet hosts);

/// Whether each type comes once.
bool is_order(const Order& order);
/// "defender,enterprise,op_server,op_host,user". Throws ConfigError unless it names each type once.
Order order_of(const std::string& text);
/// The way back.
std::string order_name(const Order& order);
/// One bit per position and type: position x 5 + type.
void write_order(const Order& order, std::span<float> row);

/// Those of the hosts that are of the most urgent type among them.
HostSet most_urgent(const Order& order, HostSet hosts);

}  // namespace penstock::cage2
