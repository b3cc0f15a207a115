#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/core/base/config.h"
#include "penstock/core/env/vec_env.h"
#include "penstock/domains/booking/env/obs_writer.h"
#include "penstock/domains/booking/routing/oracle.h"

namespace penstock::booking {

/// The keys of the env `dvrptw`; see docs/booking/README.md.
/// Costs are km (cost_of_km() where days are counted in driving time), times are minutes. Settings
/// are checked against fields() when they are applied; a config that C++ code fills by hand is
/// taken as it is.
struct DvrptwConfig {
  std::string generator = "city";
  std::string file;  // a path
  std::string mode = "ride";
  std::int64_t customers = 30;  // requests of a day, steps of an episode
  std::int64_t vehicles = 5;
  std::int64_t capacity = 0;
  std::int64_t window_minutes = 30;
  std::int64_t max_ride = 0;  // 0: no limit
  std::string offer = "auto";
  std::string answer = "rule";
  double eta = 0.05;
  double walk_away = 0;
  double rho = 0.02;             // km per minute
  double rejection = 1;          // km
  double unserved = 50;          // km
  double lost = 0;               // km; 0: as unserved
  std::string oracle = "rr-50";  // see make_any_oracle()
  std::string versus = "none";
  std::string prices = "insertion";
  std::string obs = "set";
  bool values = false;
  bool belief = false;
  std::uint64_t people = 1;  // not the run's seed: the same people in every run
  bool strangers = false;
  std::int64_t stay_days = 0;  // 0: for ever
  std::string mask = "none";
  std::string mask_from = "argmax";
  double epsilon = 0.2;
  double epsilon_decay = 0.95;  // per day
  double epsilon_floor = 0.02;
  std::string embedding = "sync";
  std::int64_t embedding_interval = 0;  // 0: 10 days of all envs
  std::int64_t embedding_epochs = 50;
  std::int64_t embedding_buffer = 64'000;

  /// Each key once, with its help and its limits.
  template <class Visitor>
  void fields(Visitor& visit) {
    visit("generator", generator, "where a day's requests come from",
          Choices{"city", "delivery", "clustered", "solomon", "ortec", "csv"});
    visit("file", file,
          "the instance that solomon and ortec read, the list of requests that csv reads "
          "(docs/booking/csv.md)");
    visit("mode", mode, "ride: pickup and drop-off; deliver: one stop", Choices{"ride", "deliver"});
    visit("customers", customers,
          "customers, each of whom calls once a day: the steps of an episode", Range{1, 2000});
    visit("vehicles", vehicles, "vehicles, the most routes of a plan", Range{1, 1000});
    visit("capacity", capacity, "capacity of a vehicle; 0: 4 in ride mode, 40 in deliver mode",
          Range{0, 1'000'000});
    visit("window_minutes", window_minutes,
          "minutes between the earliest and the latest start of service; refused where the file "
          "has windows of its own (csv, deliveries of solomon and ortec)",
          Range{0, 1440});
    visit("max_ride", max_ride, "most minutes from pickup to drop-off; 0: no limit",
          Range{0, 1440});
    visit("offer", offer,
          "what an offer changes. shift: the pickup moves earlier and the drop-off later; widen: "
          "windows begin earlier and end later; auto: shift in ride mode, widen in deliver mode",
          Choices{"auto", "shift", "widen"});
    visit("answer", answer,
          "how customers answer. rule: they take what their type allows; noisy: the same, inverted "
          "with probability eta; logit: the less is asked for, the likelier",
          Choices{"rule", "noisy", "logit"});
    visit("eta", eta, "probability that a noisy answer is inverted", Range{0, 0.5});
    visit("walk_away", walk_away, "probability that a customer who refuses leaves", Range{0, 1});
    visit(
        "rho", rho,
        "cost of a minute that a customer gives, km; where days are counted in minutes of driving "
        "(ortec), a km of this and of the next three is 2.5 minutes, at 24 km/h",
        Range{0, 1000});
    visit("rejection", rejection, "cost of a refused offer, km", Range{0, 1000});
    visit("unserved", unserved, "cost of a request that fits nowhere, km", Range{0, 100'000});
    visit(
        "lost", lost,
        "cost of a customer who leaves, km, beside that of the refusal; not below env.unserved; 0: "
        "as env.unserved",
        Range{0, 100'000});
    visit("oracle", oracle,
          "how routes are planned: insertion, relocate, rr-N for N rounds of ruin and recreate, "
          "neural for a network's plan, neural:FILE for another network's");
    visit(
        "versus", versus,
        "policy whose reward in the same step of the same day is subtracted. none: nothing; null: "
        "that of changing nothing; myopic: that of the myopic offers of the exact belief",
        Choices{"none", "null", "myopic"});
    visit("prices", prices,
          "how the savings of offers are estimated in the observation set. insertion: by the "
          "cheapest place; relocate: by moves of single requests too",
          Choices{"insertion", "relocate"});
    visit("obs", obs,
          "what the policy sees. list: [C, 6], a row per request; hist: [606, 2], counts by zone "
          "and half-hour; set: tokens, savings, chances and belief",
          Choices{"list", "hist", "set"});
    visit(
        "values", values,
        "append what each offer promises at once, km by the cheapest place and the belief, to list "
        "and hist");
    visit("belief", belief, "append the belief about the caller's type to list and hist");
    visit("people", people, "seed of the customers' hidden types, the same in all envs");
    visit("strangers", strangers,
          "every env has people of its own, of whom the others know nothing");
    visit("stay_days", stay_days, "episodes after which other people come; 0: they stay for ever",
          Range{0, 1'000'000'000});
    visit("mask", mask,
          "which offers are legal. none: all; known: what the true type takes; bayes, learnt: what "
          "the exact or the learnt belief allows",
          Choices{"none", "known", "bayes", "learnt"});
    visit("mask_from", mask_from,
          "how a belief becomes a mask. argmax: by the likeliest type; sample: by a type drawn "
          "from it; soft: what is taken with a chance of 1/2 or more",
          Choices{"argmax", "sample", "soft"});
    visit("epsilon", epsilon, "initial probability that a belief's mask is ignored", Range{0, 1});
    visit("epsilon_decay", epsilon_decay, "factor of epsilon per day of all envs", Range{0, 1});
    visit("epsilon_floor", epsilon_floor,
          "least epsilon; below 0.02 a wrong belief might never be found out", Range{0.02, 1});
    visit(
        "embedding", embedding,
        "when the embedding learns: while the envs wait (sync), or beside the next rollout (async)",
        Choices{"sync", "async"});
    visit("embedding_interval", embedding_interval,
          "steps between trainings of the embedding; 0: 10 days of all envs", Range{0, 1e15});
    visit("embedding_epochs", embedding_epochs, "passes over the embedding's samples per training",
          Range{1, 100'000});
    visit("embedding_buffer", embedding_buffer, "samples that the embedding keeps, the newest",
          Range{1, 100'000'000});
  }
};

/// What a config's words mean, for those who play days without the env.
/// km become whole metres, or seconds at 24 km/h where the generator's costs are. Throws UsageError
/// for an unknown answer model, and where a lost customer would cost less than one who fits
/// nowhere.
BookingRules rules_of(const DvrptwConfig& config);
/// Throws UsageError for an unknown generator, IoError or DataError where it reads a file.
std::unique_ptr<Generator> generator_of(const DvrptwConfig& config);
/// How the savings in its observations are found.
Pricing pricing_of(const DvrptwConfig& config);
/// What writes its observations; makes a generator to know the map's size.
ObsWriter obs_writer_of(const DvrptwConfig& config);

/// Makes an oracle by its name; throws UsageError when it is unknown. Called once for every thread
/// that steps envs at the same time.
using OracleMaker = std::function<std::unique_ptr<RoutingOracle>(std::string_view name)>;

/// Many envs `dvrptw`: the envs of a range share one call of the oracle per step.
/// An action is an offer, 0 to 15; the reward of a step is km, or minutes with ortec. Statistics:
/// cost_km (cost_min), failure_rate,
/// acceptance, shifted_minutes.
std::unique_ptr<VecEnv> make_dvrptw(const DvrptwConfig& config, std::size_t num_envs,
                                    std::uint64_t seed,
                                    const OracleMaker& make_oracle = make_search_oracle);

/// Lines for a catalog.
/// One: "dvrptw".
std::vector<EnvEntry> routing_envs(OracleMaker make_oracle = make_search_oracle);

}  // namespace penstock::booking
