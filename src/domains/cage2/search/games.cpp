#include "penstock/domains/cage2/search/games.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "penstock/domains/cage2/sim/keys.h"

namespace penstock::cage2 {
namespace {

bool at_risk_of(TypeSet types, int type) { return (types >> type & 1U) != 0; }

/// Hosts that red holds at any time of a game. Blue acts in one step of `pause`, at random.
HostSet taken_in(Simulator& game, std::uint64_t seed, std::uint32_t pause, std::int64_t steps) {
  std::array<float, kObsSize> row{};
  game.reset(seed, {row, {}});
  Random random({.seed = seed, .owner = 1});
  HostSet taken = 0;
  for (std::int64_t t = 0; t < steps; ++t) {
    const bool acts = pause > 0 && random.below(pause) == 0;
    game.advance(acts ? random.below(kNumActions) : 0);
    taken |= lost_hosts(game.world().with_sessions());
  }
  return taken;
}

}  // namespace

GameConfig game_of(const SearchOptions& options) {
  const char* origin = "the search";
  Settings settings;
  settings.add("env.red", options.job.red, origin);
  settings.add("env.rules", options.job.rules, origin);
  for (const std::string& setting : options.settings) { settings.add_assignment(setting, origin); }
  return config_from<GameConfig>(settings);
}

TypeSet types_at_risk(const SearchOptions& options) {
  return types_at_risk(game_of(options), options.job.compliance_rule == 'A');
}

TypeSet types_at_risk(const GameConfig& config, bool rule_a) {
  if (rule_a) { return kAllTypes; }
  constexpr std::uint64_t kGames = 170;
  constexpr std::int64_t kMostSteps = 100;
  const std::int64_t steps = std::min(config.max_steps, kMostSteps);
  Simulator game(config);
  HostSet taken = 0;
  for (std::uint64_t seed = 0; seed < kGames; ++seed) {
    for (const std::uint32_t pause : {0, 1, 8}) { taken |= taken_in(game, seed, pause, steps); }
  }
  return types_of(taken);
}

Order canonical(const Order& order, TypeSet at_risk) {
  Order result{};
  auto next = std::ranges::copy_if(order, result.begin(), [&](int type) {
                return at_risk_of(at_risk, type);
              }).out;
  for (int type = 0; type < static_cast<int>(kNumTypes); ++type) {
    if (!at_risk_of(at_risk, type)) { *next++ = type; }
  }
  return result;
}

std::vector<GameRow> games_of(const std::vector<Measured>& orders, TypeSet at_risk) {
  std::map<Order, GameRow> games;
  for (const Measured& each : orders) {
    const double value = each.result.mean_return;
    const Order order = canonical(each.result.order, at_risk);
    GameRow& row = games.try_emplace(order, GameRow{.order = order, .least = value, .most = value})
                       .first->second;
    ++row.num_orders;
    row.num_compliant += each.result.compliant ? 1 : 0;
    row.mean += (value - row.mean) / row.num_orders;
    row.least = std::min(row.least, value);
    row.most = std::max(row.most, value);
  }
  std::vector<GameRow> rows;
  for (const auto& game : games) { rows.push_back(game.second); }
  std::ranges::stable_sort(rows, std::greater{}, &GameRow::mean);
  return rows;
}

int num_games(TypeSet at_risk) {
  int count = 1;
  for (int i = 2; i <= std::popcount(at_risk); ++i) { count *= i; }
  return count;
}

}  // namespace penstock::cage2
