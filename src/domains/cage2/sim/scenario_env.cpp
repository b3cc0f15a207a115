#include "penstock/domains/cage2/sim/scenario_env.h"

#include <algorithm>

#include "penstock/core/base/errors.h"

namespace penstock::cage2 {
namespace {

constexpr std::size_t kBitsOfHost = 4;
constexpr std::size_t kPortsAimedAt = 8;

NetworkSize size_of(const ScenarioEnv::Config& config) {
  const auto& hosts = config.hosts;
  const auto fits = [](std::int64_t n) {
    return n >= NetworkSize::kLeast && n <= Network::kMaxHosts;
  };
  if (hosts.size() != 2 || !fits(hosts[0]) || !fits(hosts[1]) || hosts[0] > hosts[1]) {
    throw ConfigError(
        "env.hosts: expected the least and the most hosts of a network, 5 to 64, as [5, 50]");
  }
  return {.least = hosts[0], .most = hosts[1]};
}

std::unique_ptr<Network> first_network(const ScenarioEnv::Config& config) {
  if (!config.is_random()) { return nullptr; }
  auto network = std::make_unique<Network>();
  draw_network(0, size_of(config), rules_of(config), *network);
  return network;
}

float flag(bool holds) { return holds ? 1.0F : 0.0F; }

}  // namespace

std::shared_ptr<const Network> load_network(const ScenarioEnv::Config& config) {
  const Rules rules = rules_of(config);
  if (config.is_scenario2()) { return {std::shared_ptr<void>(), &scenario2_network(rules)}; }
  return std::make_shared<const Network>(network_of(read_scenario(config.scenario), rules));
}

ScenarioEnv::ScenarioEnv(const Config& config)
    : size_(config.is_random() ? size_of(config) : NetworkSize{}),
      rules_(rules_of(config)),
      network_(config.is_random() || config.network ? config.network : load_network(config)),
      drawn_(first_network(config)),
      simulator_(config, network()) {}

EnvSpec ScenarioEnv::spec() const {
  EnvSpec spec = simulator_.spec();
  if (drawn_) {
    spec.action = Discrete{spec.action.choices().front(), true};
    spec.obs.append("network", {network().width, kFeaturesOfHost});
  }
  return spec;
}

void ScenarioEnv::draw() {
  if (drawn_) { draw_network(seed_, size_, rules_, *drawn_); }
}

void ScenarioEnv::reset(std::uint64_t seed, Row row) {
  seed_ = seed;
  draw();
  const std::size_t bits = kBitsOfHost * network().width;
  simulator_.reset(seed, {row.obs.first(bits), {}});
  if (drawn_) {
    write_network(row.obs.subspan(bits));
    write_mask(row.legal);
  }
}

Outcome ScenarioEnv::step(std::int64_t action, Row row) {
  const std::size_t bits = kBitsOfHost * network().width;
  const Outcome outcome = simulator_.step(action, {row.obs.first(bits), {}});
  if (drawn_) {
    write_network(row.obs.subspan(bits));
    write_mask(row.legal);
  }
  return outcome;
}

/// Rows change owners from step to step, so that all of it is written each time.
void ScenarioEnv::write_network(std::span<float> row) const {
  const Network& net = network();
  std::ranges::fill(row, 0.0F);
  for (std::uint8_t h = 0; h < net.num_hosts; ++h, row = row.subspan(kFeaturesOfHost)) {
    row[0] = 1.0F;
    row[1 + number_of(net.subnets[h])] = 1.0F;
    row[4] = flag(net.services[h].windows);
    row[5] = net.cost_tenths[h / 8][1U << h % 8] / 10.0F;
    row[6] = flag(h == net.goal);
    row[7] = flag(h == net.start);
    row[8] = flag(has(net.gates[0] | net.gates[1] | net.gates[2], h));
    for (std::size_t port = 0; port < kPortsAimedAt; ++port) {
      row[9 + port] = flag((net.services[h].ports >> port & 1U) != 0);
    }
  }
}

/// Sleep and Monitor have no host and are always legal.
void ScenarioEnv::write_mask(std::span<bool> legal) const {
  const Network& net = network();
  for (std::size_t first = 2; first < legal.size(); first += net.width) {
    std::ranges::fill(legal.subspan(first + net.num_hosts, net.width - net.num_hosts), false);
  }
}

}  // namespace penstock::cage2
