#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "penstock/core/base/config.h"
#include "penstock/core/env/spec.h"

namespace penstock {

class Network;

/// Makes networks of one kind; holds the kind's config.
/// The fields point into the factory, which must outlive them.
class NetworkFactory {
 public:
  virtual ~NetworkFactory() = default;
  /// The config's keys, under "net.".
  virtual std::vector<Field> fields() = 0;
  /// Initial weights are a function of the config and the seed. May be called from any thread.
  [[nodiscard]] virtual std::unique_ptr<Network> make(const EnvSpec& spec,
                                                      std::uint64_t seed) const = 0;
};

/// A line of the catalog: a kind of network.
struct NetworkEntry {
  std::string name;  // "mlp", as net.kind takes it
  std::string doc;   // a line of help
  /// A new factory each time, with the default config.
  std::function<std::unique_ptr<NetworkFactory>()> make_factory;
};

/// A catalog line for a network with a config of its own, a struct with fields():
///     catalog.networks.push_back(network_entry<MyConfig>("my_net", "what it is", make_my_net));
template <class Config>
/// `make` is called for every replica and must give the same weights for the same seed.
NetworkEntry network_entry(
    std::string name, std::string doc,
    std::function<std::unique_ptr<Network>(const EnvSpec&, const Config&, std::uint64_t)> make) {
  class Factory final : public NetworkFactory {
   public:
    using Make =
        std::function<std::unique_ptr<Network>(const EnvSpec&, const Config&, std::uint64_t)>;
    explicit Factory(Make make) : make_(std::move(make)) {}
    std::vector<Field> fields() override { return fields_of(config_, "net."); }
    [[nodiscard]] std::unique_ptr<Network> make(const EnvSpec& spec,
                                                std::uint64_t seed) const override {
      return make_(spec, config_, seed);
    }

   private:
    Config config_;
    Make make_;
  };
  return {std::move(name), std::move(doc),
          [make = std::move(make)] { return std::make_unique<Factory>(make); }};
}

}  // namespace penstock
