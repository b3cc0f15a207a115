#include "domains/booking/service/improver.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "penstock/core/base/errors.h"

namespace penstock::booking::service {
namespace {

constexpr std::int64_t kPiece = 100;  // rounds of search between two looks at the plan

/// Of this thread alone, as Linux has it: others go first.
void give_way() {
  constexpr int kLowest = 19;
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kLowest);
}

}  // namespace

Improver::Improver(Store& store, std::int64_t rounds, PriceErrors& errors)
    : store_(store), errors_(errors), rounds_(rounds) {
  if (rounds_ > 0) {
    thread_ = std::thread([this] { work(); });
  }
}

Improver::~Improver() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) { thread_.join(); }
}

void Improver::want(Plan& plan) {
  if (rounds_ == 0) { return; }
  {
    const std::lock_guard lock(mutex_);
    wanted_[&plan] = rounds_;
  }
  changed_.notify_one();
}

void Improver::work() {
  give_way();
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return over_ || !wanted_.empty(); });
    if (over_) { return; }
    const auto first = wanted_.begin();
    Plan& plan = *first->first;
    const std::int64_t left = std::exchange(first->second, first->second - kPiece);
    if (first->second <= 0) { wanted_.erase(first); }
    lock.unlock();
    try {
      improve(plan, left);
    } catch (const Error&) {}  // of the store: whoever calls next is told
    lock.lock();
  }
}

void Improver::improve(Plan& plan, std::int64_t round) {
  std::unique_lock lock(plan.mutex);
  if (plan.stale) { return; }
  const std::uint64_t generation = plan.day.generation();
  dispatch::Schedule better = plan.day.schedule();
  lock.unlock();

  const std::uint64_t seed = round;
  const bool improved = better.improve(std::min(kPiece, round), generation * 1'000'003 + seed);
  const bool last = round <= kPiece;
  if (!improved && !last) { return; }

  lock.lock();
  if (plan.stale || plan.day.generation() != generation) { return; }
  if (improved) { keep(plan, std::move(better)); }
  if (last && !plan.stale) { settle(plan); }
}

void Improver::keep(Plan& plan, dispatch::Schedule better) {
  plan.day.take_improved(std::move(better), plan.day.generation());
  // The version stays: nobody's promise has changed. What a driver sees must not change back.
  plan.stale = true;
  if (store_.write(plan.day.change_for({}, 0))) {
    plan.day.written();
    plan.stale = false;
    ++num_improved_;
  }
}

/// Nothing more is searched for: what the last booking cost in the end is known.
void Improver::settle(Plan& plan) {
  plan.settled = true;
  if (!plan.watched || plan.watched->bookings != plan.day.num_bookings()) { return; }
  errors_.add(plan.watched->price, plan.watched->cost - plan.day.schedule().cost());
  plan.watched.reset();
}

}  // namespace penstock::booking::service
