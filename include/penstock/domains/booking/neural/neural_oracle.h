#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/core/base/thread_pool.h"
#include "penstock/domains/booking/neural/planner.h"
#include "penstock/domains/booking/routing/oracle.h"
#include "penstock/domains/booking/routing/route_set.h"

namespace penstock::booking {

/// The defaults are the oracle "neural".
struct NeuralOptions {
  std::int32_t flips = 1;       // 8: the best plan of eight mirrored and turned maps
  bool or_insertion = false;    // keep the plan so far with the request inserted, if cheaper
  std::size_t max_batch = 128;  // tasks whose memory is held at a time; never changes results
};

/// A task and the network's plan of it. Cost is the plan's, added up in whole metres; without a
/// complete plan there is none.
struct PlannedTask {
  const Task* task = nullptr;
  Plan plan;
  Cost cost = 0;
  bool complete = false;   // else the plan is what was served up to a dead end
  bool first_try = false;  // complete without turning the map for another try
};

/// Plans the tasks one block after another. Where the first try meets a dead end, the map is turned
/// and mirrored for others.
void plan_tasks(Planner& planner, std::span<PlannedTask> tasks, const NeuralOptions& options = {});

/// The same on a pool. Results do not depend on how many threads it has.
void plan_tasks(const std::shared_ptr<const PackedModel>& model, std::span<PlannedTask> tasks,
                ThreadPool& pool, const NeuralOptions& options = {});

/// Plans every problem anew by the network, whatever the plan so far. Where all tries meet a dead
/// end, those who are left are inserted where they are cheapest; if that fails, the request is
/// inserted into the plan so far.
class NeuralOracle final : public RoutingOracle {
 public:
  explicit NeuralOracle(std::shared_ptr<const PackedModel> model,
                        const NeuralOptions& options = {});
  /// One thread at a time. Draws nothing: the problems' seeds are not looked at.
  void solve(std::span<RoutingProblem> batch) override;

  /// What became of the problems so far.
  struct Tally {
    std::int64_t problems = 0;
    std::int64_t dead_ends = 0;  // of first tries; of all tries:
    std::int64_t repaired = 0;   // completed by insertion
    std::int64_t inserted = 0;   // into the plan so far
    std::int64_t refused = 0;    // fitted nowhere
    std::int64_t kept = 0;       // inserted because that was cheaper
  };
  [[nodiscard]] const Tally& tally() const { return tally_; }

 private:
  void finish(RoutingProblem& problem, const PlannedTask& planned);
  void replan(RoutingProblem& problem, const PlannedTask& planned) const;
  bool complete(RoutingProblem& problem, const Plan& part);
  bool insert(RoutingProblem& problem, Cost below);

  Planner planner_;
  NeuralOptions options_;
  Tally tally_;
  std::vector<Task> tasks_;
  std::vector<PlannedTask> planned_;
  std::vector<std::int32_t> requests_;
  RouteSet routes_;
};

/// Where models are: PENSTOCK_MODELS, the install prefix, or beside the source tree.
std::string model_path(const std::string& file);
/// The model that ships with Penstock.
inline constexpr const char* kDefaultModel = "dvrptw-oracle.safetensors";

/// "neural" or "neural-8", either with "+insertion", and with ":PATH" for a model that does not
/// ship; or what make_search_oracle() knows. Oracles that live at the same time share a model.
/// Throws UsageError for another name, IoError or DataError for a model that cannot be read.
std::unique_ptr<RoutingOracle> make_any_oracle(std::string_view name);

}  // namespace penstock::booking
