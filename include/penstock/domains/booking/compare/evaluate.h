#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "penstock/core/base/thread_pool.h"
#include "penstock/domains/booking/compare/booking_log.h"
#include "penstock/domains/booking/compare/policies.h"
#include "penstock/domains/booking/compare/reference.h"
#include "penstock/domains/booking/compare/scores.h"
#include "penstock/domains/booking/routing/generators.h"

namespace penstock::booking {

/// How much better a long search plans what was planned at a share of the steps.
struct Audit {
  std::int64_t steps = 0;
  double mean_gap = 0;           // of the plan's cost to the long search's, as a share
  std::int64_t wrong_signs = 0;  // steps whose cost grew in one search and fell in the other
};

/// Lists are by policy, in the order in which they were given.
struct Evaluation {
  std::string versus;
  CostUnit unit = CostUnit::metres;  // of costs; those of people, and rewards, are in_unit()
  std::vector<PolicyScore> policies;
  /// By policy, where a reference was asked for: mean cost, in_unit(), of its final plans over the
  /// days that were solved, and of the reference's.
  struct Reference {
    std::int64_t days = 0;
    double ours = 0;
    double reference = 0;
  };
  std::vector<std::optional<Reference>> references;
  std::vector<std::optional<Audit>> audits;
  std::vector<BookingLog> logs;  // by policy, where they were asked for

  /// By its name.
  [[nodiscard]] const PolicyScore& policy(const std::string& name) const;
  /// A table for people.
  [[nodiscard]] std::string text() const;
  /// One line of JSON.
  [[nodiscard]] std::string json() const;
};

/// A row of the table.
struct PolicyLine {
  Interval reward, cost, minutes;  // the first two as in_unit() tells them
  double vehicles = 0;
  double hours = 0;       // that drivers are out, in all
  double per_served = 0;  // cost of a served request; NaN when nobody is served
  double saving = 0;      // of per_served against null, as a share; NaN without it
  double acceptance = 0;
  double shifted = 0;   // minutes per request
  double unserved = 0;  // share of requests that fitted nowhere
  double lost = 0;      // share of customers who refused and left
  double known_types = 0;
  double ride_ratio = 0;
  Interval difference;       // of the reward to the policy that is compared with
  Interval difference_cost;  // likewise
};
/// `score` is one of the evaluation's.
PolicyLine line_of(const Evaluation& evaluation, const PolicyScore& score);

/// Where days come from and how they are played.
/// The functions are called from several threads at once.
struct EvaluationSetup {
  std::function<std::unique_ptr<Generator>()> make_generator;
  std::function<std::unique_ptr<RoutingOracle>()> make_oracle;
  BookingRules rules;
  std::size_t num_customers = 30;
  std::int64_t days_per_stay = 1;  // that the same people book, and are remembered
};

/// How much is played, and what is measured beside it.
struct EvaluationOptions {
  std::int64_t days = 1000;  // of every policy
  std::uint64_t seed = 0;
  std::string versus;               // empty: the first policy
  std::size_t workers = 1;          // that play at the same time; never changes results
  double audit_share = 0;           // of the steps
  std::int64_t reference_days = 0;  // of each policy, solved by the reference
  ReferenceOptions reference;
  std::optional<std::int64_t> shown_day;  // keep logs, with the end of this day
};

/// A policy by name; one object is made for each worker.
struct NamedPolicy {
  std::string name;
  std::function<std::unique_ptr<OfferPolicy>(std::size_t worker)> make;
};

/// Plays the same days, people and answers under every policy. Day i is a function of (seed, i):
/// threads do not matter, but for the times of decisions.
Evaluation evaluate_offers(const EvaluationSetup& setup, const std::vector<NamedPolicy>& policies,
                           ThreadPool& pool, const EvaluationOptions& options);

}  // namespace penstock::booking
