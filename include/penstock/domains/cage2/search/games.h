#pragma once
#include <vector>

#include "penstock/domains/cage2/search/search.h"

namespace penstock::cage2 {

constexpr TypeSet kAllTypes = (1U << kNumTypes) - 1;

/// The game of a search's trainings: that of its job, with the keys of the game among its settings.
GameConfig game_of(const SearchOptions& options);

/// The types of hosts that red takes in any of some 500 games, against a Blue that sleeps and one
/// that acts at random. By rule B the place of another type in an order changes nothing: a
/// type that is never lost is never the most urgent one. By rule A, which asks what was fixed
/// before, all types matter. Seen, not proved: a type that none of these games loses counts as
/// safe.
TypeSet types_at_risk(const GameConfig& game, bool rule_a = false);
TypeSet types_at_risk(const SearchOptions& options);

/// The order that stands for all that cannot be told apart from this one: types at risk as they
/// come, then the others by number.
Order canonical(const Order& order, TypeSet at_risk);

/// What was measured of the orders that are one game. They differ by their training seeds alone, so
/// the distance between the least and the most return is noise.
struct GameRow {
  Order order{};  // canonical
  int num_orders = 0;
  int num_compliant = 0;
  double mean = 0;  // of the returns
  double least = 0;
  double most = 0;
};
/// Of all orders, the compliant or not, by falling mean.
std::vector<GameRow> games_of(const std::vector<Measured>& orders, TypeSet at_risk);

/// How many games the 120 orders are: 6 where three types are at risk, 24 where four are.
int num_games(TypeSet at_risk);

}  // namespace penstock::cage2
