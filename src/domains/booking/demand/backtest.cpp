#include "penstock/domains/booking/demand/backtest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "domains/booking/demand/replay.h"
#include "domains/booking/demand/warnings.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/random.h"
#include "penstock/core/base/student.h"

namespace penstock::booking::demand {
namespace {

constexpr std::size_t kFewestDays = 4;
constexpr std::size_t kMostTastes = 3;

PerDay interval_of(double mean, double std_error, std::size_t days) {
  const double half = days > 1 ? student_quantile(days - 1) * std_error : 0;
  return {.mean = mean, .low = mean - half, .high = mean + half};
}

/// The standard deviation of single numbers.
double deviation(const std::vector<double>& numbers) {
  if (numbers.size() < 2) { return 0; }
  return estimate(numbers).std_error * std::sqrt(static_cast<double>(numbers.size()));
}

/// Days differ, and so do the worths that might be true: both make the interval.
PerDay over_days(const std::vector<double>& days, double of_draws) {
  const Estimate told = estimate(days);
  return interval_of(told.mean, std::hypot(told.std_error, of_draws), days.size());
}

std::vector<double> less(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> difference(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) { difference[i] = a[i] - b[i]; }
  return difference;
}

/// What happened under a policy, day by day.
struct Course {
  std::vector<double> earned;  // [scored days]
  std::int64_t bookings = 0;
  std::int64_t refused = 0;  // logged bookings that did not fit
  std::int64_t shown = 0;
  std::int64_t unseen = 0;  // of these, by their times
  std::int64_t untold = 0;  // of these, by their fees
  double km = 0;
};

class Backtester {
 public:
  Backtester(const std::vector<LoggedCall>& calls, const dispatch::Problem& fleet,
             const BacktestConfig& config, const Trained* trained)
      : calls_(calls),
        fleet_(fleet),
        config_(config),
        trained_(trained),
        at_(situations_of(calls, left_out_)) {
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (i == 0 || calls[i].day != calls[i - 1].day) { begins_.push_back(i); }
    }
    begins_.push_back(calls.size());
    if (num_days() < kFewestDays) {
      throw DataError(
          fmt::format("{} days of calls: a backtest learns from some and is held "
                      "against others, {} at least",
                      num_days(), kFewestDays));
    }
    first_ = std::clamp<std::size_t>(
        static_cast<std::size_t>(std::ceil(config.learn * static_cast<double>(num_days()))), 2,
        num_days() - 2);
    for (const LoggedCall& call : calls) { answers_.push_back(answer_of(call)); }
    number_customers();
    learn();
    believe();
  }

  Backtest run();

 private:
  [[nodiscard]] std::size_t num_days() const { return begins_.size() - 1; }
  [[nodiscard]] std::size_t num_scored() const { return num_days() - first_; }
  void learn();
  [[nodiscard]] const TasteFit& fit_of(std::size_t day) const { return fits_[fit_of_[day]]; }
  void number_customers();
  void believe();
  [[nodiscard]] std::size_t taste_of(std::size_t call, std::uint32_t draw) const;
  [[nodiscard]] Tastes drawn_tastes(std::size_t day, std::size_t draw) const;
  [[nodiscard]] bool seen_before(std::size_t day, const OfferedSlot& slot) const;
  [[nodiscard]] Replay replay() const {
    return {fleet_, trained_ == nullptr ? nullptr : &trained_->forecast};
  }
  [[nodiscard]] bool can_sell() const;
  [[nodiscard]] std::vector<double> fees_of(Policy policy, std::size_t day, std::size_t call,
                                            const Quoted& quoted) const;
  [[nodiscard]] std::vector<Policy> judged() const;
  void count_shown(std::size_t day, const Situation& at, const std::vector<double>& fees,
                   Course& course) const;
  std::int32_t answer(std::size_t call, const Situation& at, const Tastes& tastes,
                      const std::vector<double>& fees, std::uint32_t draw) const;
  double live_call(Policy policy, std::size_t day, std::size_t call, std::int32_t draw,
                   const Tastes& tastes, Replay& replay, Course& course) const;
  Course live(Policy policy, std::int32_t draw) const;
  PolicyResult result_of(const char* name, const std::vector<Course>& courses,
                         const std::vector<double>* facts) const;
  struct Sums;
  void add_call(Policy policy, std::size_t day, std::size_t call, const Quoted& quoted,
                Sums& sums) const;
  OffPolicy check(Policy policy) const;
  [[nodiscard]] LogGaps gaps(const Course& facts) const;

  const std::vector<LoggedCall>& calls_;
  const dispatch::Problem& fleet_;
  BacktestConfig config_;
  const Trained* trained_;  // may be none
  std::int64_t left_out_ = 0;
  std::vector<Situation> at_;            // [calls]
  std::vector<std::size_t> begins_;      // [days + 1], the first call of each
  std::size_t first_ = 0;                // day that is scored
  std::vector<Answer> answers_;          // [calls]
  std::vector<std::int32_t> customers_;  // [calls], by number; -1: not named
  std::vector<SegmentBelief> beliefs_;   // [calls], by the answers of earlier days
  std::vector<TasteFit> fits_;
  std::vector<std::size_t> fit_of_;  // [days], among the fits
  std::vector<std::set<std::pair<dispatch::Time, dispatch::Time>>> times_before_;  // [days]
  std::vector<std::pair<double, double>> fees_before_;  // [days], the least and the largest
};

constexpr std::int32_t kFacts = -1;  // as a draw: what the log says

void Backtester::number_customers() {
  std::map<std::string, std::int32_t> numbers;
  for (const LoggedCall& call : calls_) {
    const std::int32_t next = numbers.size();
    customers_.push_back(
        call.customer.empty() ? -1 : numbers.try_emplace(call.customer, next).first->second);
  }
}

/// Of each call that is scored, what the caller's answers of earlier days tell.
void Backtester::believe() {
  beliefs_.resize(calls_.size());
  std::map<std::int32_t, std::vector<std::size_t>> before;  // calls of earlier days, by customer
  for (std::size_t day = 0; day < num_days(); ++day) {
    const Tastes tastes = fit_of(day).tastes();
    for (std::size_t c = begins_[day]; c < begins_[day + 1] && day >= first_; ++c) {
      beliefs_[c] = tastes.model(at_[c].times).prior();
      for (const std::size_t earlier : before[customers_[c]]) {
        const Answer& answer = answers_[earlier];
        tastes.model(answer.slots).update(beliefs_[c], answer.fees, answer.taken);
      }
    }
    for (std::size_t c = begins_[day]; c < begins_[day + 1]; ++c) {
      if (customers_[c] >= 0) { before[customers_[c]].push_back(c); }
    }
  }
}

/// Who calls, of those whom the answers so far allow; a customer has one taste in a draw.
std::size_t Backtester::taste_of(std::size_t call, std::uint32_t draw) const {
  const bool named = customers_[call] >= 0;
  Random random(
      {.seed = config_.seed,
       .owner = draw,
       .episode = named ? static_cast<std::uint64_t>(customers_[call]) : calls_.size() + call,
       .stream = Stream::action});
  double left = random.uniform();
  const SegmentBelief& belief = beliefs_[call];
  std::size_t taste = 0;
  while (taste + 1 < kMostTastes && left >= belief[taste] && belief[taste + 1] > 0) {
    left -= belief[taste++];
  }
  return taste;
}

/// Again when a quarter more is known, not for every day.
void Backtester::learn() {
  constexpr double kMore = 1.25;
  fit_of_.assign(num_days(), 0);
  times_before_.resize(num_days());
  std::pair fees(kWithheld, -kWithheld);
  double known = 0;
  std::set<std::pair<dispatch::Time, dispatch::Time>> times;
  for (std::size_t day = 0; day < num_days(); ++day) {
    times_before_[day] = times;
    fees_before_.push_back(fees);
    const double before = begins_[day];
    if (day >= first_ && (fits_.empty() || before >= kMore * known)) {
      fits_.push_back(fit_tastes(std::span(answers_).first(begins_[day]),
                                 std::span(customers_).first(begins_[day]), kMostTastes));
      known = before;
    }
    fit_of_[day] = fits_.empty() ? 0 : fits_.size() - 1;
    for (std::size_t c = begins_[day]; c < begins_[day + 1]; ++c) {
      for (const OfferedSlot& slot : calls_[c].menu) {
        times.emplace(slot.window.earliest, slot.window.latest);
        fees = {std::min(fees.first, slot.fee), std::max(fees.second, slot.fee)};
      }
    }
  }
}

/// Worths that might be true; the same normal numbers on every day.
Tastes Backtester::drawn_tastes(std::size_t day, std::size_t draw) const {
  Random random(
      {.seed = config_.seed, .owner = static_cast<std::uint32_t>(draw), .stream = Stream::search});
  Traits normals{};
  for (double& one : normals) { one = random.normal(); }
  Tastes tastes = fit_of(day).tastes();
  for (std::size_t k = 0; k < tastes.list.size(); ++k) {
    tastes.list[k].worth = drawn_worth(fit_of(day).fits[k], normals);
  }
  return tastes;
}

bool Backtester::seen_before(std::size_t day, const OfferedSlot& slot) const {
  return times_before_[day].contains({slot.window.earliest, slot.window.latest});
}

void Backtester::count_shown(std::size_t day, const Situation& at, const std::vector<double>& fees,
                             Course& course) const {
  for (std::size_t s = 0; s < fees.size(); ++s) {
    if (fees[s] == kWithheld) { continue; }
    ++course.shown;
    course.unseen += seen_before(day, at.slots[s]) ? 0 : 1;
    const auto& [least, most] = fees_before_[day];
    course.untold += fees[s] < least || fees[s] > most ? 1 : 0;
  }
}

/// Whether it is known on all days what fees do, without which a network cannot sell.
bool Backtester::can_sell() const {
  return std::all_of(fits_.begin(), fits_.end(),
                     [](const TasteFit& fit) { return fit.tastes().knows_fees; });
}

std::vector<Policy> Backtester::judged() const {
  std::vector<Policy> list = {Policy::logged, Policy::first_come, Policy::insertion,
                              Policy::posterior};
  if (trained_ != nullptr && can_sell()) { list.push_back(Policy::trained); }
  return list;
}

std::vector<double> Backtester::fees_of(Policy policy, std::size_t day, std::size_t call,
                                        const Quoted& quoted) const {
  const Tastes tastes = fit_of(day).tastes();
  return policy == Policy::trained
             ? shown_by(trained_->seller, trained_->forecast, at_[call], quoted, tastes,
                        beliefs_[call])
             : shown_by(policy, at_[call], quoted.wares, tastes, beliefs_[call]);
}

/// The same noise for all policies, so that their days can be compared.
std::int32_t Backtester::answer(std::size_t call, const Situation& at, const Tastes& tastes,
                                const std::vector<double>& fees, std::uint32_t draw) const {
  Random random({.seed = config_.seed, .owner = draw, .episode = call, .stream = Stream::evaluate});
  std::vector<double> noise(fees.size() + 1);
  for (double& one : noise) { one = -std::log(-std::log(random.uniform())); }
  return tastes.model(at.times).choose(taste_of(call, draw), fees, noise);
}

/// What the call brings, routes apart.
double Backtester::live_call(Policy policy, std::size_t day, std::size_t call, std::int32_t draw,
                             const Tastes& tastes, Replay& replay, Course& course) const {
  const Situation& at = at_[call];
  const bool facts = draw == kFacts || day < first_;
  std::int32_t taken = at.call->taken;
  double fee = taken == kNoPurchase ? 0 : at.call->menu[taken].fee;
  if (!facts) {
    const std::vector<double> fees = fees_of(policy, day, call, replay.quote(at));
    count_shown(day, at, fees, course);
    taken = answer(call, at, tastes, fees, static_cast<std::uint32_t>(draw));
    fee = taken == kNoPurchase ? 0 : fees[taken];
  }
  if (taken == kNoPurchase) { return 0; }
  const bool fits = replay.book(*at.call, at.slots[taken]);
  if (day >= first_) { (fits ? course.bookings : course.refused) += 1; }
  return fits ? at.call->revenue + fee : 0;
}

/// The whole log under a policy; `draw` is of the worths and of the answers.
Course Backtester::live(Policy policy, std::int32_t draw) const {
  Course course;
  Replay replay = this->replay();
  double km_before = 0;
  for (std::size_t day = 0; day < num_days(); ++day) {
    const Tastes tastes =
        draw == kFacts ? fit_of(day).tastes() : drawn_tastes(day, static_cast<std::size_t>(draw));
    const double cost = replay.cost();
    if (day == first_) { km_before = replay.km(); }
    double brought = 0;
    for (std::size_t call = begins_[day]; call < begins_[day + 1]; ++call) {
      brought += live_call(policy, day, call, draw, tastes, replay, course);
    }
    replay.end_day(config_.improve, config_.seed + day);
    if (day >= first_) { course.earned.push_back(brought - (replay.cost() - cost)); }
  }
  course.km = replay.km() - km_before;
  return course;
}

PolicyResult Backtester::result_of(const char* name, const std::vector<Course>& courses,
                                   const std::vector<double>* facts) const {
  const std::size_t days = num_scored();
  const double num_courses = courses.size();
  std::vector<double> by_day(days, 0);
  std::vector<double> by_draw;
  PolicyResult result{.name = name};
  double shown = 0;
  double unseen = 0;
  double untold = 0;
  for (const Course& course : courses) {
    for (std::size_t d = 0; d < days; ++d) { by_day[d] += course.earned[d] / num_courses; }
    by_draw.push_back(estimate(course.earned).mean);
    result.bookings += static_cast<double>(course.bookings) / num_courses;
    result.km += course.km / num_courses;
    shown += static_cast<double>(course.shown);
    unseen += static_cast<double>(course.unseen);
    untold += static_cast<double>(course.untold);
  }
  result.bookings /= static_cast<double>(days);
  result.km /= static_cast<double>(days);
  result.calls = static_cast<double>(calls_.size() - begins_[first_]) / days;
  result.unseen = shown > 0 ? unseen / shown : 0;
  result.untold = shown > 0 ? untold / shown : 0;
  const double of_draws = deviation(by_draw);
  result.earned = over_days(by_day, of_draws);
  if (facts != nullptr) { result.gain = over_days(less(by_day, *facts), of_draws); }
  return result;
}

/// Sums of what a policy would have earned call by call.
struct Backtester::Sums {
  std::vector<double> direct;    // [scored days], by the fit
  std::vector<double> weighted;  // [scored days], by calls that were shown the same
  std::vector<double> by_draw;   // [draws], by worths that might be true
  double weights = 0;
  double squares = 0;
  std::int64_t matched = 0;
};

/// What fees are expected to earn.
double expected_of(const Tastes& tastes, const SegmentBelief& belief, const Situation& at,
                   std::span<const Wares> wares, const std::vector<double>& fees) {
  std::vector<double> chances(fees.size());
  const ChoiceModel model = tastes.model(at.times);
  model.chances(belief, fees, chances);
  double sum = 0;
  for (std::size_t s = 0; s < fees.size(); ++s) {
    if (fees[s] == kWithheld) { continue; }
    sum += chances[s] * (wares[s].margin + fees[s] - wares[s].fee);
  }
  return sum;
}

/// Whether the log's menu is the same.
bool as_logged(const LoggedCall& call, const std::vector<double>& fees) {
  for (std::size_t s = 0; s < fees.size(); ++s) {
    if (fees[s] != (s < call.menu.size() ? call.menu[s].fee : kWithheld)) { return false; }
  }
  return true;
}

void Backtester::add_call(Policy policy, std::size_t day, std::size_t call, const Quoted& quoted,
                          Sums& sums) const {
  const Situation& at = at_[call];
  const SegmentBelief& belief = beliefs_[call];
  const Tastes tastes = fit_of(day).tastes();
  const std::span<const Wares> wares = quoted.wares;
  const std::vector<double> fees = fees_of(policy, day, call, quoted);
  sums.direct[day - first_] += expected_of(tastes, belief, at, wares, fees);
  for (std::size_t draw = 0; draw < sums.by_draw.size(); ++draw) {
    sums.by_draw[draw] += expected_of(drawn_tastes(day, draw), belief, at, wares, fees);
  }
  if (at.call->propensity <= 0 || !as_logged(*at.call, fees)) { return; }
  const double weight = 1 / at.call->propensity;
  sums.weights += weight;
  sums.squares += weight * weight;
  ++sums.matched;
  if (at.call->taken == kNoPurchase) { return; }
  sums.weighted[day - first_] += weight * wares[at.call->taken].margin;
}

/// Each logged call by itself, in the plans as they were.
OffPolicy Backtester::check(Policy policy) const {
  Sums sums{.direct = std::vector<double>(num_scored(), 0),
            .weighted = std::vector<double>(num_scored(), 0),
            .by_draw = std::vector<double>(static_cast<std::size_t>(config_.draws), 0)};
  Replay replay = this->replay();
  for (std::size_t day = 0; day < num_days(); ++day) {
    for (std::size_t c = begins_[day]; c < begins_[day + 1]; ++c) {
      const LoggedCall& call = *at_[c].call;
      if (day >= first_) { add_call(policy, day, c, replay.quote(at_[c]), sums); }
      if (call.taken == kNoPurchase) { continue; }
      replay.book(call, call.menu[call.taken]);
    }
    replay.end_day(config_.improve, config_.seed + day);
  }
  const double days = num_scored();
  const double of_draws = deviation(sums.by_draw) / days;
  return {.direct = over_days(sums.direct, of_draws),
          .weighted = over_days(sums.weighted, 0),
          .difference = over_days(less(sums.direct, sums.weighted), of_draws),
          .effective = sums.squares > 0 ? sums.weights * sums.weights / sums.squares : 0,
          .matched = sums.matched};
}

/// What a reader must know who was not there.
LogGaps Backtester::gaps(const Course& facts) const {
  const auto all_alike = [](const TasteFit& fit) {
    return !fit.fits[0].converged && fit.fits.size() == 1;
  };
  return {.refused = facts.refused,
          .left_out = left_out_,
          .answers_alike = std::any_of(fits_.begin(), fits_.end(), all_alike),
          .cannot_sell = trained_ != nullptr && !can_sell()};
}

Backtest Backtester::run() {
  Backtest told{.days = static_cast<std::int64_t>(num_days()),
                .scored = static_cast<std::int64_t>(num_scored()),
                .calls = static_cast<std::int64_t>(calls_.size()),
                .fit = fit_answers(answers_),
                .tastes = fit_tastes(answers_, customers_, kMostTastes).tastes()};
  const Course facts = live(Policy::logged, kFacts);
  told.policies.push_back(result_of("logged", {facts}, nullptr));
  const bool randomised = std::any_of(calls_.begin(), calls_.end(),
                                      [](const LoggedCall& call) { return call.propensity > 0; });
  for (const Policy policy : judged()) {
    std::vector<Course> courses;
    for (std::int32_t draw = 0; draw < config_.draws; ++draw) {
      courses.push_back(live(policy, draw));
    }
    PolicyResult result = result_of(name_of(policy), courses, &facts.earned);
    if (policy == Policy::logged) {
      told.bias = *result.gain;
      continue;
    }
    if (randomised) { result.check = check(policy); }
    told.policies.push_back(std::move(result));
  }
  told.warnings = warnings_of(told, gaps(facts));
  return told;
}

}  // namespace

Backtest backtest(const std::vector<LoggedCall>& calls, const dispatch::Problem& fleet,
                  const BacktestConfig& config, const Trained* trained) {
  return Backtester(calls, fleet, config, trained).run();
}

}  // namespace penstock::booking::demand
