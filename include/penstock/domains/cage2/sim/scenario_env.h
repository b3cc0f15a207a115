#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "penstock/domains/cage2/sim/random_network.h"
#include "penstock/domains/cage2/sim/simulator.h"

namespace penstock::cage2 {

/// The game of `cage2` in another network than Scenario 2: that of a file, or a random one for each
/// episode. Everything has room for as many hosts as there may be; where a network is drawn,
/// actions on hosts that it has not are masked, and a second part of the observation tells it.
class ScenarioEnv {
 public:
  struct Config : GameConfig {
    std::string scenario = "scenario2";
    std::vector<std::int64_t> hosts = {5, 50};
    /// Not a key: the tables of a file, which envs share. None: made from the file.
    std::shared_ptr<const Network> network = {};

    template <class Visitor>
    void fields(Visitor& visit) {
      GameConfig::fields(visit);
      visit("scenario", scenario,
            "network: scenario2, the file of another, or random: drawn for each episode");
      visit("hosts", hosts, "least and most hosts where scenario = random",
            Range{NetworkSize::kLeast, Network::kMaxHosts});
    }
    [[nodiscard]] bool is_scenario2() const { return scenario == "scenario2"; }
    [[nodiscard]] bool is_random() const { return scenario == "random"; }
  };

  /// Numbers of a host in the part "network": that it exists, its subnet (3), Windows, its cost,
  /// goal, start, opens a subnet, and the eight ports that exploits aim at.
  static constexpr std::int64_t kFeaturesOfHost = 17;

  /// Throws ConfigError, and IoError for a file that cannot be read.
  explicit ScenarioEnv(const Config& config);

  /// Parts "hosts" {n, 4} and, where networks are drawn, "network" {n, 17}.
  [[nodiscard]] EnvSpec spec() const;
  /// The network is a function of the seed too.
  void reset(std::uint64_t seed, Row row);
  Outcome step(std::int64_t action, Row row);

  [[nodiscard]] const WideSimulator& simulator() const { return simulator_; }
  [[nodiscard]] const Network& network() const { return drawn_ ? *drawn_ : *network_; }

  template <class Archive>
  void state(Archive& archive) {
    archive(seed_);
    if constexpr (Archive::kLoads) { draw(); }
    archive(simulator_);
  }

 private:
  void draw();
  void write_network(std::span<float> row) const;
  void write_mask(std::span<bool> legal) const;

  NetworkSize size_;
  Rules rules_;
  std::shared_ptr<const Network> network_;
  std::unique_ptr<Network> drawn_;  // none: the network stays
  WideSimulator simulator_;         // looks into one of the two
  std::uint64_t seed_ = 0;
};

/// The tables of the file that the config names. Throws as ScenarioEnv does.
std::shared_ptr<const Network> load_network(const ScenarioEnv::Config& config);

}  // namespace penstock::cage2
