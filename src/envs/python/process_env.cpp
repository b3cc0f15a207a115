#include "penstock/envs/python/process_env.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "envs/python/futex.h"
#include "envs/python/process_tree.h"
#include "envs/python/slot.h"
#include "envs/python/spin_wait.h"
#include "penstock/core/base/archive.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/random.h"

namespace penstock {
namespace {

constexpr double kLookS = 0.05;                      // how soon a dead worker is noticed
constexpr double kFarewellS = 2.0;                   // for a worker to close its envs
constexpr std::int64_t kMostRemembered = 1'000'000;  // steps of an episode

bool all_finite(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); });
}

/// The part of a block's rows that belongs to its k-th env.
template <class T>
std::span<T> row_of(std::span<T> rows, std::size_t k, std::size_t width) {
  return rows.subspan(k * width, width);
}

}  // namespace

std::uint64_t ProcessEnv::Slot::seed_of(std::uint64_t number) const {
  constexpr unsigned kBits = 33;  // leaves 31: a seed that every env takes
  return number == 0 ? base_seed : episode_seed(base_seed, 0, number) >> kBits;
}

void ProcessEnv::Slot::start(std::uint64_t number) {
  episode = number;
  next_episode = number + 1;
  steps = 0;
  total_reward = 0;
  begun = complete = true;
  lost = behind = false;
  choices.clear();
  points.clear();
}

void ProcessEnv::Slot::remember(std::span<const std::int64_t> choice,
                                std::span<const float> point) {
  if (steps >= kMostRemembered) {
    complete = false;
    choices = {};
    points = {};
    return;
  }
  choices.insert(choices.end(), choice.begin(), choice.end());
  points.insert(points.end(), point.begin(), point.end());
}

ProcessEnv::ProcessEnv(EnvSpec spec, Options options, std::shared_ptr<Launcher> launcher)
    : spec_(std::move(spec)),
      options_(std::move(options)),
      owner_(::getpid()),
      launcher_(std::move(launcher)),
      rows_(spec_, options_.envs.count, options_.num_workers),
      slots_(options_.envs.count),
      last_obs_(options_.envs.count * spec_.obs.size()),
      budget_(options_.max_restarts, options_.restart_window_s) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    slots_[i].base_seed = options_.seed + options_.envs.first + i;
  }
  if (!launcher_) { return; }
  for (std::size_t w = 0; w < rows_.num_workers(); ++w) {
    workers_.push_back(std::make_unique<Worker>());
    workers_[w]->process = launcher_->start(rows_, w);
  }
}

ProcessEnv::ProcessEnv(EnvSpec spec, Options options,
                       const std::function<std::unique_ptr<InlineWorker>(SharedRows&)>& make)
    : ProcessEnv(std::move(spec), std::move(options), std::shared_ptr<Launcher>()) {
  inline_ = make(rows_);
}

ProcessEnv::~ProcessEnv() {
  if (::getpid() != owner_) { return; }  // a fork of this process has no say over its workers
  for (std::size_t w = 0; w < workers_.size(); ++w) {
    rows_.mail(w).quit = 1;
    rows_.mail(w).bell.fetch_add(1);
    detail::futex_wake(rows_.mail(w).bell);
  }
  const Stopwatch watch;
  for (const auto& worker : workers_) {
    const double left = std::max(0.0, kFarewellS - watch.seconds());
    if (!worker->process.ended_within(left)) {
      detail::end_tree(worker->process);
      (void)worker->process.ended_within(kFarewellS);
    }
    try {
      launcher_->end_of(worker->process);  // so that nothing of it stays behind
    } catch (const std::exception&) {      // nothing more can be done about it
    }
  }
}

EnvProcesses ProcessEnv::processes() const {
  EnvProcesses all;
  for (const auto& worker : workers_) {
    ++all.count;
    all.cpu_s += cpu_seconds_of(worker->process.pid());
  }
  return all;
}

void ProcessEnv::seed(std::size_t env, std::uint64_t seed) {
  slots_[env].base_seed = seed;
  slots_[env].next_episode = 0;
}

void ProcessEnv::give(std::size_t env, Order order) {
  if (inline_) {
    inline_->work(env, order);
  } else {
    rows_.order(env).store(order, std::memory_order_release);
  }
}

// The parent rings and then looks at `asleep`; the worker sets `asleep` and then looks at the bell.
// So no wake-up can be missed: at least one side sees what the other has written. This holds
// only under sequential consistency, which is why the mailbox's atomics are not relaxed. Should one
// be missed all the same, the worker looks again after a second (kLongSleepS of worker_port.cpp).
void ProcessEnv::ring(EnvRange range) {
  if (inline_ || range.size() == 0) { return; }
  for (std::size_t w = rows_.worker_of(range.begin); w <= rows_.worker_of(range.end - 1); ++w) {
    Mailbox& mail = rows_.mail(w);
    mail.bell.fetch_add(1);
    if (mail.asleep != 0) { detail::futex_wake(mail.bell); }
  }
}

void ProcessEnv::begin_episode(std::size_t env, Order order) {
  Slot& slot = slots_[env];
  slot.start(slot.next_episode);
  rows_.seed(env) = slot.seed_of(slot.episode);
  give(env, order);
}

void ProcessEnv::reset(EnvRange range, ObsRows next) {
  for (std::size_t i = range.begin; i < range.end; ++i) { begin_episode(i, Order::reset); }
  ring(range);
  await(range);
  for (std::size_t i = range.begin; i < range.end; ++i) {
    retry_reset(i);
    read_row(i, i - range.begin, next);
  }
}

void ProcessEnv::step(EnvRange range, ActionRows actions, ObsRows next, OutcomeRows outcome) {
  start_step(range, actions);
  finish_step(range, next, outcome);
}

void ProcessEnv::write_action(std::size_t env, std::size_t row, ActionRows actions) {
  const std::size_t dims = rows_.dims();
  if (rows_.continuous()) {
    std::ranges::copy(row_of(actions.points, row, dims), rows_.points(env).begin());
  } else {
    std::ranges::copy(row_of(actions.choices, row, dims), rows_.choices(env).begin());
  }
}

void ProcessEnv::start_step(EnvRange range, ActionRows actions) {
  catch_up(range);
  for (std::size_t i = range.begin; i < range.end; ++i) {
    Slot& slot = slots_[i];
    write_action(i, i - range.begin, actions);
    slot.remember(rows_.choices(i), rows_.points(i));
    if (slot.lost) { continue; }  // finish_step() begins the next episode
    rows_.seed(i) = slot.seed_of(slot.next_episode);
    give(i, Order::step);
  }
  ring(range);
}

void ProcessEnv::finish_step(EnvRange range, ObsRows next, OutcomeRows outcome) {
  await(range);
  for (std::size_t i = range.begin; i < range.end; ++i) {
    const std::size_t row = i - range.begin;
    if (rows_.answer(i) == Answer::absent) { slots_[i].lost = true; }
    if (!slots_[i].lost) {
      if (const auto cause = fault(i)) {
        report(i, *cause);
        slots_[i].lost = true;
        rows_.answer(i) = Answer::failed;
      }
    }
    if (slots_[i].lost) {
      discard(i, row, outcome);
    } else {
      read_outcome(i, row, outcome);
    }
    read_row(i, row, next);
  }
}

/// Why what an env handed over cannot be used.
std::optional<std::string> ProcessEnv::fault(std::size_t env) const {
  if (rows_.answer(env) == Answer::failed) { return std::string(rows_.message(env).data()); }
  if (!all_finite(rows_.obs(env))) { return "the observation is not finite"; }
  if (!std::isfinite(rows_.reward(env))) { return "the reward is not finite"; }
  const bool ended = rows_.terminated(env) || rows_.truncated(env);
  if (ended && !all_finite(rows_.final_obs(env))) { return "the last observation is not finite"; }
  std::size_t first = 0;
  for (const std::int64_t n :
       rows_.mask_width() > 0 ? spec_.action.choices() : std::vector<std::int64_t>()) {
    const auto legal = rows_.legal(env).subspan(first, n);
    if (std::ranges::find(legal, true) == legal.end()) { return "no action is legal"; }
    first += n;
  }
  return {};
}

/// Until an episode has begun well, or the budget of restarts is spent.
void ProcessEnv::retry_reset(std::size_t env) {
  for (;;) {
    rows_.reward(env) = 0;
    rows_.terminated(env) = rows_.truncated(env) = false;
    const bool absent = rows_.answer(env) == Answer::absent;
    const auto cause = absent ? std::nullopt : fault(env);
    if (!absent && !cause) { return; }
    if (cause) { report(env, *cause); }
    begin_episode(env, Order::rebuild);
    ring({env, env + 1});
    await({env, env + 1});
  }
}

void ProcessEnv::read_row(std::size_t env, std::size_t row, ObsRows next) {
  const std::size_t features = rows_.num_features();
  std::ranges::copy(rows_.obs(env), row_of(next.obs, row, features).begin());
  std::ranges::copy(rows_.obs(env), row_of(std::span(last_obs_), env, features).begin());
  if (rows_.mask_width() > 0) {
    std::ranges::copy(rows_.legal(env), row_of(next.legal, row, rows_.mask_width()).begin());
  }
}

void ProcessEnv::read_outcome(std::size_t env, std::size_t row, OutcomeRows outcome) {
  Slot& slot = slots_[env];
  const float reward = rows_.reward(env);
  slot.total_reward += reward;
  ++slot.steps;
  if (slot.steps > furthest_.load(std::memory_order_relaxed)) {
    furthest_.store(slot.steps, std::memory_order_relaxed);  // of threads at once, any will do
  }
  outcome.reward[row] = reward;
  outcome.terminated[row] = rows_.terminated(env);
  outcome.truncated[row] = rows_.truncated(env);
  if (!rows_.terminated(env) && !rows_.truncated(env)) { return; }
  outcome.episode[row] = {slot.total_reward, slot.steps, rows_.success(env)};
  std::ranges::copy(rows_.stats(env), outcome.episode[row].stats.begin());
  std::ranges::copy(rows_.final_obs(env),
                    row_of(outcome.final_obs, row, rows_.num_features()).begin());
  slot.start(slot.next_episode);  // the worker has begun it
}

/// The step that never was: a cut at the row that was acted on, and the next episode.
void ProcessEnv::discard(std::size_t env, std::size_t row, OutcomeRows outcome) {
  outcome.reward[row] = 0;
  outcome.terminated[row] = false;
  outcome.truncated[row] = true;
  outcome.episode[row] = {.discarded = true};
  const std::size_t features = rows_.num_features();
  std::ranges::copy(row_of(std::span(last_obs_), env, features),
                    row_of(outcome.final_obs, row, features).begin());
  begin_episode(env, rows_.answer(env) == Answer::failed ? Order::rebuild : Order::reset);
  ring({env, env + 1});
  await({env, env + 1});
  retry_reset(env);
}

bool ProcessEnv::answered(EnvRange part) const {
  for (std::size_t i = part.begin; i < part.end; ++i) {
    if (rows_.order(i).load(std::memory_order_acquire) != Order::none) { return false; }
  }
  return true;
}

void ProcessEnv::await(EnvRange range) {
  if (inline_ || range.size() == 0) { return; }
  for (std::size_t w = rows_.worker_of(range.begin); w <= rows_.worker_of(range.end - 1); ++w) {
    const EnvRange all = rows_.range_of(w);
    await_worker(w, {std::max(all.begin, range.begin), std::min(all.end, range.end)});
  }
}

void ProcessEnv::await_worker(std::size_t worker, EnvRange part) {
  thread_local detail::SpinWait spin;
  spin.renew();
  bool done = answered(part);
  while (!done && spin.left()) { done = answered(part); }
  if (!done) { sleep_until_answered(worker, part); }
  workers_[worker]->answered.store(true, std::memory_order_relaxed);
}

// Sleeps are short (kLookS): a worker that has died wakes nobody, so its process has to be looked
// at. Time counts from the last sign of progress, not from the order: a worker of many slow envs is
// late only when it is stuck in one of them.
void ProcessEnv::sleep_until_answered(std::size_t worker, EnvRange part) {
  Mailbox& mail = rows_.mail(worker);
  Stopwatch since_progress;
  std::uint32_t progress = mail.progress;
  while (!answered(part)) {
    const std::uint32_t generation = workers_[worker]->generation;
    mail.waiting.fetch_add(1);
    const std::uint32_t seen = mail.completed;
    if (!answered(part)) { detail::futex_wait(mail.completed, seen, kLookS); }
    mail.waiting.fetch_sub(1);
    if (mail.progress != progress) {
      progress = mail.progress;
      since_progress = Stopwatch();
      workers_[worker]->answered = true;
    }
    look_after(worker, generation, since_progress.seconds() > deadline_of(worker));
    if (workers_[worker]->generation != generation) { since_progress = Stopwatch(); }
  }
}

/// Making and resetting envs may take longer than steps, and a new worker has to start first.
double ProcessEnv::deadline_of(std::size_t worker) const {
  const std::int32_t current = rows_.mail(worker).current;
  const bool steps =
      workers_[worker]->answered && current >= 0 && rows_.order(current).load() == Order::step;
  return steps ? options_.step_deadline_s : options_.start_deadline_s;
}

}  // namespace penstock
