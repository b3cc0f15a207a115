#include "core/train/choose_lag.h"

#include <fmt/format.h>

#include <algorithm>

#include "penstock/core/base/stopwatch.h"
#include "penstock/core/train/engine.h"

namespace penstock::detail {
namespace {

constexpr const char* kLagKey = "async.max_lag";
constexpr double kWorthALag = 1.05;  // times faster; a lag also costs steps
constexpr int kTurns = 3;            // of each lag
constexpr int kUpdatesOfTurn = 16;   // at most
constexpr double kTurnS = 0.2;       // a turn has no further update after it
constexpr double kAllTurnsS = 3;     // there are no further turns after it

std::shared_ptr<const RunPlan> at_lag(const RunPlan& plan, std::int64_t lag,
                                      const std::string& origin) {
  return plan.with(kLagKey, std::to_string(lag), origin);
}

/// To be timed. All cores, where the threads are open too: an engine that tries them out meanwhile
/// would favour the lag, whose learner has threads of its own.
std::shared_ptr<const RunPlan> contender(const RunPlan& plan, std::int64_t lag) {
  return at_lag(plan, lag, "auto")->with("threads", std::to_string(threads_of(plan)), "auto");
}

void learn_once(Engine& engine) {
  engine.sample(engine.steps_left());
  engine.update();
}

/// Seconds of an update, once sampler and learner have found their rhythm.
double time_turn(const RunPlan& plan) {
  Engine engine(plan);
  for (std::int64_t i = 0; i <= plan.algorithm().async().max_lag; ++i) { learn_once(engine); }
  const Stopwatch watch;
  int count = 0;
  do {
    learn_once(engine);
    ++count;
  } while (count < kUpdatesOfTurn && watch.seconds() < kTurnS);
  return watch.seconds() / count;
}

/// One engine at a time: an env may be a service or a device that is there once.
LagTimes time_both(const RunPlan& plan) {
  const std::shared_ptr<const RunPlan> contenders[] = {contender(plan, 0), contender(plan, 1)};
  LagTimes times;
  const Stopwatch watch;
  for (int turn = 0; turn < kTurns && watch.seconds() < kAllTurnsS; ++turn) {
    for (const int lag : {0, 1}) { times.seconds[lag].push_back(time_turn(*contenders[lag])); }
  }
  return times;
}

}  // namespace

double LagTimes::median(std::int64_t lag) const {
  std::vector<double> sorted = seconds[lag];
  std::sort(sorted.begin(), sorted.end());
  return sorted[sorted.size() / 2];
}

std::int64_t better_lag(const LagTimes& times) {
  // Turns of the same lag differ by more than is to be won on a machine that others use too.
  const bool apart =
      *std::ranges::max_element(times.seconds[1]) < *std::ranges::min_element(times.seconds[0]);
  return apart && times.median(0) >= kWorthALag * times.median(1) ? 1 : 0;
}

std::shared_ptr<const RunPlan> with_measured_lag(std::shared_ptr<const RunPlan> plan,
                                                 const Peers& peers, const Note& note) {
  if (!plan->algorithm().leaves_lag_open()) { return plan; }
  if (!peers.alone()) {
    note(fmt::format("{} = 0, as several processes learn in step", kLagKey));
    return at_lag(*plan, 0, "auto: several processes");
  }
  const LagTimes times = time_both(*plan);
  const std::int64_t lag = better_lag(times);
  const auto rate = [&](int of) { return plan->samples_per_update() / times.median(of); };
  const std::string measured =
      fmt::format("0: {:.0f} samples/s, 1: {:.0f} samples/s", rate(0), rate(1));
  note(fmt::format("{} = {} ({})", kLagKey, lag, measured));
  return at_lag(*plan, lag, "auto: " + measured);
}

std::shared_ptr<const RunPlan> with_recorded_lag(std::shared_ptr<const RunPlan> plan,
                                                 const RunDir& dir) {
  if (!plan->algorithm().leaves_lag_open()) { return plan; }
  Settings recorded;
  recorded.add_toml(dir.read("config.toml"), "config.toml");
  const Setting* lag = recorded.find(kLagKey);
  // A run that began without the key had no lag.
  const bool known = lag != nullptr && lag->text != "auto";
  return plan->with(kLagKey, known ? lag->text : "0", "config.toml");
}

}  // namespace penstock::detail
