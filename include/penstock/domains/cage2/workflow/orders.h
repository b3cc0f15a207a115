#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "penstock/core/train/trained_run.h"
#include "penstock/domains/cage2/sim/workflow.h"

namespace penstock::cage2 {

/// Games of one attacker in which repairs should follow one order.
struct OrderGames {
  std::string red;
  Order order{};
  std::int64_t episodes = 100;
  std::uint64_t seed = 1;  // the same games for every policy and order
  bool sampled = false;    // actions are drawn as in training, else the most likely are taken
};

/// Means over episodes.
struct OrderScore {
  double mean_return = 0;  // of the game alone
  double std_error = 0;
  double compliance = 0;
  double lost_compliance = 0;  // over fixes of hosts that were lost when they were fixed
  double fixes = 0;
  double worth = 0;  // the return with what the order earns
};

/// What episodes of cage2_workflow come to; `ends` is not empty.
OrderScore score_of(std::span<const EpisodeEnd> ends);

/// Plays a trained policy, with every other key of its env as it was trained. Threads do not change
/// results. Throws UsageError when the run's env is not cage2_workflow.
OrderScore play_order(const TrainedRun& run, const Catalog& catalog, const OrderGames& games);

}  // namespace penstock::cage2
