#include "penstock/core/train/run_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/json_value.h"
#include "penstock/core/base/moments.h"

namespace penstock::detail {
namespace {

Json finite_or_null(double x) { return std::isfinite(x) ? Json(x) : Json(nullptr); }
double number_or_nan(const Json& x) { return x.is_null() ? std::nan("") : x.get<double>(); }

std::int64_t checked_count(std::int64_t count, const std::string& name) {
  constexpr std::int64_t kMost = std::int64_t{1} << 53;  // what no run reaches, and JSON holds
  if (count >= 0 && count <= kMost) { return count; }
  throw DataError(fmt::format(
      "checkpoint: state.json: {} is {}, expected 0 to 2^53; the file is damaged", name, count));
}

template <class Number>
double mean_of(const std::deque<EpisodeEnd>& window, Number EpisodeEnd::*number) {
  Moments moments;
  for (const EpisodeEnd& end : window) { moments.add(end.*number); }
  return window.empty() ? std::nan("") : moments.mean;
}

RunState from_json(const Json& run) {
  RunState state;
  const auto count = [&run](const char* name) {
    return checked_count(run.value(name, std::int64_t{0}), std::string("run.") + name);
  };
  state.episodes = count("episodes");
  state.discarded = count("discarded");
  state.next_eval = count("next_eval");
  state.seconds = std::max(0.0, run.value("seconds", 0.0));
  if (!run.at("best_score").is_null()) { state.best_score = run.at("best_score"); }
  if (run.contains("last_eval")) {  // earlier versions did not keep it
    const Json& eval = run.at("last_eval");
    state.last_eval.episodes = eval.at("episodes");
    state.last_eval.mean_reward = number_or_nan(eval.at("mean_reward"));
  }
  for (const Json& end : run.at("window")) {
    const int success = std::clamp(end.at(2).get<int>(), -1, 1);
    state.window.push_back({end.at(0), end.at(1), static_cast<Success>(success)});
    if (end.size() > 3) { state.window.back().stats = end.at(3); }
  }
  return state;
}

}  // namespace

double RunState::mean_reward() const { return mean_of(window, &EpisodeEnd::total_reward); }
double RunState::mean_length() const { return mean_of(window, &EpisodeEnd::length); }

std::string state_text(const std::string& counters, const RunState& run) {
  Json window = Json::array();
  for (const EpisodeEnd& end : run.window) {
    window.push_back({end.total_reward, end.length, static_cast<int>(end.success), end.stats});
  }
  Json json = {{"episodes", run.episodes},
               {"discarded", run.discarded},
               {"next_eval", run.next_eval},
               {"seconds", run.seconds},
               {"best_score", finite_or_null(run.best_score)},
               {"window", window}};
  if (run.last_eval.episodes > 0) {
    json["last_eval"] = {{"episodes", run.last_eval.episodes},
                         {"mean_reward", finite_or_null(run.last_eval.mean_reward)}};
  }
  return to_text(Json{{"engine", parse_json(counters)}, {"run", json}}, 1);
}

RunState read_run_state(const Checkpoint& checkpoint) {
  try {
    return from_json(parse_json(checkpoint.state).at("run"));
  } catch (const Json::exception& error) {
    throw DataError(fmt::format("checkpoint {}: state.json: {}", checkpoint.step, error.what()));
  }
}

Counters counters_of(const Checkpoint& checkpoint) {
  try {
    return parse_json(checkpoint.state).at("engine").get<Counters>();
  } catch (const Json::exception& error) {
    throw DataError(std::string("checkpoint: state.json: ") + error.what());
  }
}

std::int64_t counter(const Counters& counters, const std::string& name) {
  const auto found = counters.find(name);
  if (found == counters.end()) { throw DataError("checkpoint: state.json: no engine." + name); }
  return checked_count(found->second, "engine." + name);
}

}  // namespace penstock::detail
