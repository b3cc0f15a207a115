#include "penstock/domains/booking/slots/contest.h"

#include <fmt/format.h>

#include <algorithm>

#include "penstock/core/base/json_value.h"
#include "penstock/core/base/stopwatch.h"
#include "penstock/core/base/student.h"

namespace penstock::booking {
namespace {

constexpr double kContestCents = 100;
constexpr double kMetresOfKm = 1000;

SlotScore play_episode(const SlotMarket& market, SlotSeller& seller, std::uint64_t seed,
                       SlotDay& day) {
  SlotScore score;
  day.begin(market, seed);
  while (!day.over()) {
    day.quote();
    const Stopwatch watch;
    const SlotOffer offer = seller.offer(day);
    score.seconds += watch.seconds();
    day.sell(offer.fees, offer.withheld);
  }
  const SlotTally& tally = day.tally();
  score.profit = tally.profit / kContestCents;
  score.calls = tally.calls;
  score.sold = tally.sold;
  score.fees = tally.fees / kContestCents;
  score.cost = day.cost() / kContestCents;
  for (std::int32_t d = 0; d < market.config().days; ++d) {
    score.km += day.routes(d).cost() / kMetresOfKm;
  }
  return score;
}

SellerLine line_of(const SellerScores& seller, const SellerScores& versus) {
  SlotScore sum;
  std::vector<double> profits;
  std::vector<double> differences;
  for (std::size_t i = 0; i < seller.episodes.size(); ++i) {
    const SlotScore& one = seller.episodes[i];
    profits.push_back(one.profit);
    differences.push_back(one.profit - versus.episodes[i].profit);
    sum.calls += one.calls;
    sum.sold += one.sold;
    sum.fees += one.fees;
    sum.cost += one.cost;
    sum.km += one.km;
    sum.seconds += one.seconds;
  }
  const double sold = std::max(sum.sold, 1.0);
  const double episodes = profits.size();
  return {.name = seller.name,
          .profit = estimate(profits),
          .difference = estimate(differences),
          .half = student_quantile(std::max<std::size_t>(profits.size() - 1, 1)),
          .sold = sum.sold / sum.calls,
          .lost = (sum.calls - sum.sold) / episodes,
          .fees = sum.fees / episodes,
          .km = sum.km / episodes,
          .cost = sum.cost / episodes,
          .fee_per_sale = sum.fees / sold,
          .cost_per_sale = sum.cost / sold,
          .decision_ms = 1000 * sum.seconds / sum.calls};
}

Json interval_json(const Estimate& found, double half) {
  return {{"mean", found.mean},
          {"low", found.mean - half * found.std_error},
          {"high", found.mean + half * found.std_error}};
}

}  // namespace

SlotContest play_contest(const SlotMarket& market, const std::vector<NamedSeller>& sellers,
                         std::int64_t episodes, std::uint64_t seed, ThreadPool& pool) {
  SlotContest contest{.family = market.config().family,
                      .customers = market.config().customers,
                      .vehicles = market.config().vehicles,
                      .versus = sellers.at(0).name};
  for (const NamedSeller& seller : sellers) {
    SellerScores scores{.name = seller.name, .episodes = std::vector<SlotScore>(episodes)};
    const std::size_t workers = std::min(pool.size(), scores.episodes.size());
    pool.run(workers, [&](std::size_t worker) {
      const std::unique_ptr<SlotSeller> own = seller.make();
      SlotDay day;
      for (std::size_t i = worker; i < scores.episodes.size(); i += workers) {
        scores.episodes[i] = play_episode(market, *own, episode_seed(seed, 0, i), day);
      }
    });
    contest.sellers.push_back(std::move(scores));
  }
  return contest;
}

std::vector<AnsweredCall> answered_calls(const SlotMarket& market, SlotSeller& seller,
                                         std::uint64_t seed) {
  std::vector<AnsweredCall> calls;
  SlotDay day;
  day.begin(market, seed);
  while (!day.over()) {
    const SlotCall& call = day.call();
    const SlotOffer offer = seller.offer(day);
    AnsweredCall answered{.arrival = call.arrival,
                          .hour = call.hour,
                          .revenue = call.revenue / kContestCents,
                          .has_costs = offer.has_costs,
                          .costs = offer.costs};
    const auto quotes = day.quote();
    for (std::size_t s = 0; s < quotes.size(); ++s) {
      const bool shown = quotes[s].fits && !offer.withheld[s];
      answered.fees[s] = shown ? offer.fees[s] / kContestCents : kWithheld;
    }
    market.model_of(call).chances(call.belief, answered.fees, answered.chance);
    day.sell(offer.fees, offer.withheld);
    answered.choice = day.last_choice();
    calls.push_back(answered);
  }
  return calls;
}

std::vector<SellerLine> SlotContest::lines() const {
  const SellerScores& first = *std::ranges::find(sellers, versus, &SellerScores::name);
  std::vector<SellerLine> all;
  for (const SellerScores& seller : sellers) { all.push_back(line_of(seller, first)); }
  return all;
}

std::string SlotContest::text() const {
  std::string out = fmt::format(
      "{}, {} customers, {} vehicles, {} episodes; 95 % intervals, differences to {} on the same "
      "episodes\n{:<14} {:>18} {:>18} {:>6} {:>6} {:>6} {:>10}\n",
      family, customers, vehicles, num_episodes(), versus, "seller", "profit", "difference", "sold",
      "fee", "cost", "ms/call");
  for (const SellerLine& line : lines()) {
    out += fmt::format(
        "{:<14} {:>9.2f} ± {:<6.2f} {:>9.2f} ± {:<6.2f} {:>6.3f} {:>6.2f} {:>6.2f} "
        "{:>10.3f}\n",
        line.name, line.profit.mean, line.half * line.profit.std_error, line.difference.mean,
        line.half * line.difference.std_error, line.sold, line.fee_per_sale, line.cost_per_sale,
        line.decision_ms);
  }
  return out;
}

std::string SlotContest::json(bool profits) const {
  Json rows = Json::array();
  const std::vector<SellerLine> all = lines();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const SellerLine& line = all[i];
    rows.push_back({{"seller", line.name},
                    {"profit", interval_json(line.profit, line.half)},
                    {"difference", interval_json(line.difference, line.half)},
                    {"sold", line.sold},
                    {"lost", line.lost},
                    {"fee", line.fee_per_sale},
                    {"cost", line.cost_per_sale},
                    {"km", line.km},
                    {"ms", line.decision_ms}});
    if (!profits) { continue; }
    Json each = Json::array();
    for (const SlotScore& episode : sellers[i].episodes) { each.push_back(episode.profit); }
    rows.back()["profits"] = std::move(each);
  }
  return to_text(Json{{"family", family},
                      {"customers", customers},
                      {"vehicles", vehicles},
                      {"episodes", num_episodes()},
                      {"versus", versus},
                      {"sellers", rows}});
}

}  // namespace penstock::booking
