#include "penstock/domains/cage2/sim/random_network.h"

#include <array>
#include <bit>

#include "penstock/core/base/random.h"
#include "penstock/domains/cage2/sim/world.h"

namespace penstock::cage2 {
namespace {

constexpr std::uint8_t kDrawnGoal = 0;
constexpr std::uint8_t kDrawnStart = 1;
constexpr std::uint32_t kNetworks = 2;  // owner of their random numbers: not those of the game
constexpr int kServerTenths = 10;
constexpr int kOtherTenths = 1;

/// The hosts of Scenario 2 whose services a host of a subnet may have, by Subnet.
constexpr std::array<std::array<std::uint8_t, 4>, 3> kModels = {{
    {host::kUser1, host::kUser2, host::kUser3, host::kUser4},
    {host::kEnterprise0, host::kEnterprise1, host::kEnterprise2, host::kUser4},
    {host::kOpHost0, host::kOpHost0, host::kEnterprise1, host::kUser4},
}};

/// The hosts of each subnet beside goal and start.
struct Counts {
  std::array<std::uint32_t, 3> of{1, 1, 0};  // a foothold and a server are needed
  bool defender = false;
};

Counts draw_counts(Random& random, std::uint32_t num_hosts) {
  Counts counts;
  std::uint32_t left = num_hosts - 4;
  if (left > 1 && random.below(2) == 0) {
    counts.defender = true;
    --left;
  }
  for (; left > 0; --left) { ++counts.of[random.below(3)]; }
  return counts;
}

/// Fills a network host by host.
class Drawing {
 public:
  Drawing(Random& random, const Network& models, Network& into)
      : random_(random), models_(models), into_(into) {}

  void add(Subnet subnet, int tenths) {
    const auto& kinds = kModels[number_of(subnet)];
    add(subnet, tenths, models_.services[kinds[random_.below(kinds.size())]]);
  }
  void add(Subnet subnet, int tenths, const HostServices& services) {
    const std::uint8_t host = into_.num_hosts++;
    into_.subnets[host] = subnet;
    into_.subnet_hosts[number_of(subnet)] |= Network::Set{1} << host;
    into_.services[host] = services;
    into_.set_cost(host, tenths);
  }
  [[nodiscard]] Network::Set last() const { return Network::Set{1} << (into_.num_hosts - 1); }

 private:
  Random& random_;
  const Network& models_;
  Network& into_;
};

std::uint8_t draw_one(Random& random, Network::Set set) {
  for (std::uint32_t skip = random.below(std::popcount(set)); skip > 0; --skip) { set &= set - 1; }
  return std::countr_zero(set);
}

void draw_ways(Random& random, Network& network) {
  const Network::Set servers = network.gates[number_of(Subnet::operational)];
  for (Network::Set left = network.footholds; left != 0; left &= left - 1) {
    network.leads_to[std::countr_zero(left)] = Network::Set{1} << draw_one(random, servers);
  }
  network.relay = draw_one(random, servers);
  network.leads_to[network.relay] = Network::Set{1} << kDrawnGoal;
}

}  // namespace

void draw_network(std::uint64_t seed, const NetworkSize& size, const Rules& rules,
                  Network& network) {
  const Network& models = scenario2_network(rules);
  Random random({.seed = seed, .owner = kNetworks});
  const std::uint32_t num_hosts = size.least + random.below(size.most - size.least + 1);
  const Counts counts = draw_counts(random, num_hosts);

  network = Network{};
  network.decoys = models.decoys;
  network.service_tenths = models.service_tenths;
  network.restore_tenths = models.restore_tenths;
  network.goal = kDrawnGoal;
  network.start = kDrawnStart;
  Drawing drawing(random, models, network);
  drawing.add(Subnet::operational, kServerTenths);
  drawing.add(Subnet::user, 0, models.services[host::kUser0]);
  if (counts.defender) {
    drawing.add(Subnet::enterprise, kOtherTenths, models.services[host::kDefender]);
  }
  for (std::uint32_t i = 0; i < counts.of[1]; ++i) {
    drawing.add(Subnet::enterprise, kServerTenths);
    network.gates[number_of(Subnet::operational)] |= drawing.last();
  }
  for (std::uint32_t i = 0; i < counts.of[2]; ++i) {
    drawing.add(Subnet::operational, kOtherTenths);
  }
  for (std::uint32_t i = 0; i < counts.of[0]; ++i) {
    drawing.add(Subnet::user, kOtherTenths);
    network.footholds |= drawing.last();
  }
  network.width = size.most;
  draw_ways(random, network);
}

}  // namespace penstock::cage2
