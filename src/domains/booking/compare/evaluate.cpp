#include "penstock/domains/booking/compare/evaluate.h"

#include <algorithm>

#include "penstock/core/base/stopwatch.h"
#include "penstock/domains/booking/env/beliefs.h"
#include "penstock/domains/booking/env/offer_prices.h"

namespace penstock::booking {
namespace {

constexpr std::uint32_t kAuditOwner = 0x61756469;

/// What a worker gathers.
struct Gathered {
  std::vector<double> decisions_us;
  std::int64_t audited = 0;
  double gaps = 0;
  std::int64_t wrong_signs = 0;
};

/// Plays stays one after another: people, their days and what is known of them.
class Player {
 public:
  Player(const EvaluationSetup& setup, OfferPolicy& policy, const EvaluationOptions& options,
         Gathered& gathered)
      : setup_(setup),
        options_(options),
        policy_(policy),
        gathered_(gathered),
        generator_(setup.make_generator()),
        oracle_(setup.make_oracle()),
        auditor_(options.audit_share > 0 ? make_search_oracle("rr-1000") : nullptr),
        filter_(setup.rules.answers),
        types_(setup.num_customers),
        counts_(setup.num_customers) {}

  void begin_stay(std::uint64_t stay) {
    draw_types(options_.seed, stay, types_);
    std::ranges::fill(counts_, AnswerCounts{});
  }

  /// `offers`: where to note them, or null.
  DayScore play(std::uint64_t day, std::vector<OfferMade>* offers) {
    offers_ = offers;
    const std::uint64_t seed = episode_seed(options_.seed, 0, day);
    booking_.begin(*generator_, seed);
    policy_.begin_day(seed);
    audit_ = Random({.seed = seed, .owner = kAuditOwner});
    DayScore score;
    Cost reward = 0;
    while (!booking_.over()) { reward += step(score); }
    const DayTally& tally = booking_.tally();
    score.reward = in_unit(reward, setup_.rules.unit);
    score.requests = tally.requests;
    score.offers = tally.asked;
    score.taken = tally.taken;
    score.minutes = tally.minutes;
    score.unserved = tally.unserved;
    score.lost = tally.left;
    score_plan(booking_.instance(), booking_.plan(), score);
    return score;
  }

  [[nodiscard]] const Booking& booking() const { return booking_; }
  [[nodiscard]] PromisedDay promised() const {
    const auto served = booking_.served();
    return {.instance = booking_.instance(), .served = {served.begin(), served.end()}};
  }

 private:
  Cost step(DayScore& score) {
    const std::size_t customer = booking_.customer();
    const Flexibility type = types_[customer];
    const Belief belief = filter_.posterior(counts_[customer]);
    score.known_types += likeliest(belief) == type ? 1 : 0;
    const Stopwatch watch;
    const std::int32_t action = policy_.choose(
        {.booking = booking_, .rules = setup_.rules, .type = type, .belief = belief});
    gathered_.decisions_us.push_back(watch.seconds() * 1e6);
    if (offers_ != nullptr) { note_offer(customer, action); }
    const Booking::Answer answer = booking_.offer(action, type, setup_.rules);
    ++counts_[customer][static_cast<std::size_t>(action)][answer.taken ? 1 : 0];
    const bool audited = audit_.uniform() < options_.audit_share;
    if (!answer.stays) { return finish(nullptr, answer); }
    RoutingProblem problem = booking_.problem();
    Plan before;
    if (audited) { before = *problem.plan; }
    oracle_->solve({&problem, 1});
    if (audited) { audit(problem, before); }
    return finish(&problem, answer);
  }

  void note_offer(std::size_t customer, std::int32_t action) {
    routes_.load(booking_.instance(), booking_.plan());
    const std::int32_t request = booking_.request();
    offers_->push_back({.customer = customer,
                        .wished = windows_of(booking_.instance(), request),
                        .prices = insertion_prices(routes_, request, setup_.rules.offer),
                        .action = action,
                        .cost_before = booking_.cost()});
  }

  Cost finish(const RoutingProblem* solved, const Booking::Answer& answer) {
    const Cost reward = booking_.finish(solved, setup_.rules);
    if (offers_ != nullptr) {
      OfferMade& made = offers_->back();
      made.taken = answer.taken;
      made.left = !answer.stays;
      made.served = solved != nullptr && solved->fits;
      made.cost_after = booking_.cost();
    }
    return reward;
  }

  void audit(const RoutingProblem& solved, Plan& before) {
    RoutingProblem again = solved;
    const Cost cost_before = booking_.cost();
    again.plan = &before;
    auditor_->solve({&again, 1});
    if (!solved.fits || !again.fits || again.cost == 0) { return; }
    ++gathered_.audited;
    gathered_.gaps += static_cast<double>(solved.cost) / again.cost - 1;
    const bool grew = solved.cost > cost_before;
    gathered_.wrong_signs += grew != (again.cost > cost_before) ? 1 : 0;
  }

  const EvaluationSetup& setup_;
  const EvaluationOptions& options_;
  OfferPolicy& policy_;
  Gathered& gathered_;
  std::unique_ptr<Generator> generator_;
  std::unique_ptr<RoutingOracle> oracle_;
  std::unique_ptr<RoutingOracle> auditor_;
  BayesFilter filter_;
  std::vector<Flexibility> types_;    // [C]
  std::vector<AnswerCounts> counts_;  // [C]
  Booking booking_;
  Random audit_;
  std::vector<OfferMade>* offers_ = nullptr;
  RouteSet routes_;  // room for work
};

/// A policy's days in all.
struct Played {
  PolicyScore score;
  std::vector<PromisedDay> promised;  // the first ones, for the reference
  Gathered gathered;
  BookingLog log;
};

Played play_all(const EvaluationSetup& setup, const NamedPolicy& policy, ThreadPool& pool,
                const EvaluationOptions& options) {
  Played all;
  all.score.name = policy.name;
  all.score.days.resize(static_cast<std::size_t>(options.days));
  all.promised.resize(static_cast<std::size_t>(std::min(options.reference_days, options.days)));
  if (options.shown_day) { all.log.days.resize(all.score.days.size()); }
  const std::int64_t stays = (options.days + setup.days_per_stay - 1) / setup.days_per_stay;
  const std::size_t workers = std::min(options.workers, static_cast<std::size_t>(stays));
  std::vector<Gathered> parts(workers);
  pool.run(workers, [&](std::size_t worker) {
    const std::unique_ptr<OfferPolicy> chooser = policy.make(worker);
    Player player(setup, *chooser, options, parts[worker]);
    for (std::size_t stay = worker; stay < static_cast<std::size_t>(stays); stay += workers) {
      player.begin_stay(stay);
      const std::int64_t first = static_cast<std::int64_t>(stay) * setup.days_per_stay;
      const std::int64_t last = std::min(first + setup.days_per_stay, options.days);
      for (std::int64_t day = first; day < last; ++day) {
        const auto i = static_cast<std::size_t>(day);
        all.score.days[i] = player.play(i, options.shown_day ? &all.log.days[i] : nullptr);
        if (options.shown_day == day) {
          all.log.shown = i;
          all.log.instance = player.booking().instance();
          all.log.plan = player.booking().plan();
        }
        if (i < all.promised.size()) { all.promised[i] = player.promised(); }
      }
    }
  });
  for (const Gathered& part : parts) {
    all.gathered.decisions_us.insert(all.gathered.decisions_us.end(), part.decisions_us.begin(),
                                     part.decisions_us.end());
    all.gathered.audited += part.audited;
    all.gathered.gaps += part.gaps;
    all.gathered.wrong_signs += part.wrong_signs;
  }
  all.score.decision_p50_us = quantile(all.gathered.decisions_us, 0.5);
  all.score.decision_p99_us = quantile(all.gathered.decisions_us, 0.99);
  return all;
}

std::optional<Audit> audit_of(const Gathered& gathered) {
  if (gathered.audited == 0) { return std::nullopt; }
  return Audit{.steps = gathered.audited,
               .mean_gap = gathered.gaps / gathered.audited,
               .wrong_signs = gathered.wrong_signs};
}

std::optional<Evaluation::Reference> reference_of(const Played& played, CostUnit unit,
                                                  const ReferenceOptions& options) {
  if (played.promised.empty()) { return std::nullopt; }
  const auto costs = solve_by_pyvrp(played.promised, options);
  Evaluation::Reference found;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    if (!costs[i]) { continue; }
    ++found.days;
    found.ours += in_unit(played.score.days[i].cost, unit);
    found.reference += in_unit(*costs[i], unit);
  }
  const double days = std::max<double>(1, found.days);
  found.ours /= days;
  found.reference /= days;
  return found;
}

}  // namespace

Evaluation evaluate_offers(const EvaluationSetup& setup, const std::vector<NamedPolicy>& policies,
                           ThreadPool& pool, const EvaluationOptions& options) {
  Evaluation evaluation;
  evaluation.unit = setup.rules.unit;
  evaluation.versus = options.versus.empty() ? policies.at(0).name : options.versus;
  for (const NamedPolicy& policy : policies) {
    Played played = play_all(setup, policy, pool, options);
    evaluation.audits.push_back(audit_of(played.gathered));
    evaluation.references.push_back(reference_of(played, setup.rules.unit, options.reference));
    evaluation.policies.push_back(std::move(played.score));
    if (options.shown_day) { evaluation.logs.push_back(std::move(played.log)); }
  }
  return evaluation;
}

}  // namespace penstock::booking
