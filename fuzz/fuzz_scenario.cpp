// A scenario is refused with a ConfigError, or its networks under all switches can be played: 40
// steps against both attackers that read and write no memory of others.
#include <string_view>
#include <vector>

#include "penstock/core/base/errors.h"
#include "penstock/domains/cage2/sim/scenario.h"
#include "penstock/domains/cage2/sim/simulator.h"

namespace {

using namespace penstock;
using namespace penstock::cage2;

void play(const Scenario& scenario, const GameConfig& config) {
  const Network network = network_of(scenario, rules_of(config));
  WideSimulator game(config, network);
  std::vector<float> row(4 * network.width);
  game.reset(1, {row, {}});
  for (std::int64_t t = 0; t < 40; ++t) {
    game.step(t * 7 % num_actions(network.width), {row, {}});
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const Scenario scenario = parse_scenario(text, "fuzz.toml");
    for (const char* red : {"bline", "meander"}) {
      for (const bool fixed : {false, true}) {
        GameConfig config;
        config.red = red;
        config.green = fixed;
        config.fix_smb = config.fix_mysql = config.fix_vsftpd = fixed;
        play(scenario, config);
      }
    }
  } catch (const ConfigError&) {}
  return 0;
}
