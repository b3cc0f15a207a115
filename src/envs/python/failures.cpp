#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "envs/python/process_tree.h"
#include "envs/python/slot.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/json_value.h"
#include "penstock/core/base/text.h"
#include "penstock/envs/python/process_env.h"

// What happens when an env or its worker fails: noticing, starting again, telling.

namespace penstock {
namespace {

constexpr std::size_t kLastActions = 5;  // in a message
constexpr std::int64_t kAlike = 3;       // failures that show that there will be no other
constexpr double kLastWordsS = 0.2;
constexpr double kDyingS = 5;

/// Actions [steps, dims] as JSON rows.
template <class T>
Json action_rows(const std::vector<T>& values, std::size_t dims, std::size_t first = 0) {
  Json rows = Json::array();
  for (std::size_t i = first * dims; i + dims <= values.size(); i += dims) {
    rows.push_back(std::vector<T>(values.begin() + i, values.begin() + i + dims));
  }
  return rows;
}

}  // namespace

/// Starts a worker again that has ended, or that is late and is ended now.
void ProcessEnv::look_after(std::size_t worker, std::uint32_t generation, bool late) {
  Worker& w = *workers_[worker];
  const std::scoped_lock lock(w.mutex);
  if (w.generation != generation) { return; }  // another thread was faster
  if (late) {
    const double deadline = deadline_of(worker);
    w.process.send(SIGUSR1);  // the worker says on stderr where it is
    (void)w.process.ended_within(kLastWordsS);
    detail::end_tree(w.process);
    (void)w.process.ended_within(kDyingS);
    launcher_->end_of(w.process);
    restart(worker, fmt::format("no answer within {} s: its worker was killed", deadline));
  } else if (!w.process.running()) {
    restart(worker, "its worker was " + launcher_->end_of(w.process));
  }
}

void ProcessEnv::restart(std::size_t worker, const std::string& cause) {
  Mailbox& mail = rows_.mail(worker);
  const std::int32_t current = mail.current.exchange(-1);
  mail.asleep = 0;
  // The slot of an env whose order is not carried out stands still; those of others may not.
  if (current >= 0 && rows_.order(current) != Order::none) {
    report(current, cause);
  } else {
    const EnvRange range = rows_.range_of(worker);
    const std::size_t first = options_.envs.first + range.begin;
    const std::string whose = range.size() == 1
                                  ? fmt::format("env {}", first)
                                  : fmt::format("envs {} to {}", first, first + range.size() - 1);
    add_incident(fmt::format("{}, between steps: {}", whose, cause), "", "");
  }
  workers_[worker]->process = launcher_->start(rows_, worker);
  workers_[worker]->answered = false;
  workers_[worker]->generation.fetch_add(1);
}

/// In its episode, with the one that it failed at.
std::size_t ProcessEnv::num_actions_of(std::size_t env) const {
  const Slot& slot = slots_[env];
  return (rows_.continuous() ? slot.points.size() : slot.choices.size()) /
         std::max<std::size_t>(rows_.dims(), 1);
}

std::string ProcessEnv::place(std::size_t env) const {
  const Slot& slot = slots_[env];
  const std::size_t dims = rows_.dims();
  const std::size_t taken = num_actions_of(env);
  const std::size_t first = taken > kLastActions ? taken - kLastActions : 0;
  const Json last = rows_.continuous() ? action_rows(slot.points, dims, first)
                                       : action_rows(slot.choices, dims, first);
  return fmt::format("env {} (seed {}, episode {}, step {}, last actions {})",
                     options_.envs.first + env, slot.seed_of(slot.episode), slot.episode, taken,
                     to_text(last));
}

void ProcessEnv::report(std::size_t env, const std::string& cause) {
  add_incident(
      place(env) + ": " + cause, replay_text(env, cause),
      fmt::format("env-{}-episode-{}.json", options_.envs.first + env, slots_[env].episode));
  refuse_if_hopeless(env, cause);
}

/// The same cause at the same step again and again, and no env has ever got beyond it: a mistake in
/// the env's code, which starting again does not mend.
void ProcessEnv::refuse_if_hopeless(std::size_t env, const std::string& cause) {
  const std::scoped_lock lock(incidents_mutex_);
  const std::size_t step = num_actions_of(env);
  alike_ = cause == last_cause_ && step == last_step_ ? alike_ + 1 : 1;
  last_cause_ = cause;
  last_step_ = step;
  if (alike_ >= kAlike && step > 0 && furthest_ < static_cast<std::int64_t>(step)) {
    throw Error(Exit::failed,
                fmt::format("envs failed {} times at step {} in the same way, and none got beyond "
                            "it: {}",
                            alike_, step, first_cause_));
  }
}

void ProcessEnv::add_incident(const std::string& what, std::string replay,
                              std::string replay_name) {
  const std::scoped_lock lock(incidents_mutex_);
  const std::string shown = printable(what);
  budget_.add(since_start_.seconds(), shown);
  if (first_cause_.empty()) { first_cause_ = shown; }
  const std::string deed = budget_.spent() ? ""
                                           : fmt::format("; started again ({} of {})",
                                                         budget_.count(), options_.max_restarts);
  incidents_.push_back(
      {shown + deed, std::move(replay), std::move(replay_name), options_.replay_options});
  if (budget_.spent()) { throw Error(Exit::failed, budget_.text()); }
}

std::string ProcessEnv::replay_text(std::size_t env, const std::string& cause) const {
  const Slot& slot = slots_[env];
  const Json kwargs = try_parse_json(options_.kwargs);
  return to_text(Json{{"penstock_replay", 1},
                      {"env", options_.id},
                      {"kwargs", kwargs.is_object() ? kwargs : Json::object()},
                      {"index", options_.envs.first + env},
                      {"episode", slot.episode},
                      {"seed", slot.seed_of(slot.episode)},
                      {"complete", slot.complete},
                      {"cause", cause},
                      {"actions", rows_.continuous() ? action_rows(slot.points, rows_.dims())
                                                     : action_rows(slot.choices, rows_.dims())}},
                 -1, BadUtf8::replace) +
         "\n";
}

std::vector<Incident> ProcessEnv::take_incidents() {
  const std::scoped_lock lock(incidents_mutex_);
  return std::exchange(incidents_, {});
}

}  // namespace penstock
