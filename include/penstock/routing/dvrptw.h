#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/config.h"
#include "penstock/env/vec_env.h"
#include "penstock/routing/observation.h"
#include "penstock/routing/oracle.h"

namespace penstock::routing {

/// The keys of the env `dvrptw`; see docs/dvrptw.md.
struct DvrptwConfig {
  std::string generator = "city";
  std::string file;
  std::string mode = "ride";
  std::int64_t customers = 30;
  std::int64_t vehicles = 5;
  std::int64_t capacity = 0;
  std::int64_t window_minutes = 30;
  std::int64_t max_ride = 0;
  std::string offer = "auto";
  std::string answer = "rule";
  double eta = 0.05;
  double walk_away = 0;
  double rho = 0.02;
  double rejection = 1;
  double unserved = 50;
  std::string oracle = "rr-50";
  std::string versus = "none";
  std::string prices = "insertion";
  std::string obs = "set";
  bool belief = false;
  std::uint64_t people = 1;
  bool strangers = false;
  std::int64_t stay_days = 0;
  std::string mask = "none";
  std::string mask_from = "argmax";
  double epsilon = 0.2;
  double epsilon_decay = 0.95;
  double epsilon_floor = 0.02;
  std::string embedding = "sync";
  std::int64_t embedding_interval = 0;
  std::int64_t embedding_epochs = 50;
  std::int64_t embedding_buffer = 64'000;

  template <class Visitor>
  void fields(Visitor& visit) {
    visit("generator", generator, "where a day's requests come from",
          Choices{"city", "delivery", "clustered", "solomon", "ortec", "csv"});
    visit("file", file, "the instance that solomon, ortec and csv read");
    visit("mode", mode, "ride: pickup and drop-off; deliver: one stop", Choices{"ride", "deliver"});
    visit("customers", customers, "who each call once a day: the steps of an episode",
          Range{1, 2000});
    visit("vehicles", vehicles, "routes at most", Range{1, 1000});
    visit("capacity", capacity, "of a vehicle; 0: 4 in ride mode, 40 in deliver mode",
          Range{0, 1'000'000});
    visit("window_minutes", window_minutes, "between the earliest and the latest start of service",
          Range{0, 1440});
    visit("max_ride", max_ride, "minutes from pickup to drop-off at most; 0: no limit",
          Range{0, 1440});
    visit(
        "offer", offer,
        "shift: the pickup moves earlier and the drop-off later; widen: windows begin earlier and "
        "end later; auto: shift in ride mode, widen in deliver mode",
        Choices{"auto", "shift", "widen"});
    visit("answer", answer,
          "rule: what the type allows is taken; noisy: turned round with eta; "
          "logit: likelier the less is asked for",
          Choices{"rule", "noisy", "logit"});
    visit("eta", eta, "how likely a noisy answer is turned round", Range{0, 0.5});
    visit("walk_away", walk_away, "how likely a customer who refuses is not served at all",
          Range{0, 1});
    visit("rho", rho, "km that a minute given by a customer costs", Range{0, 1000});
    visit("rejection", rejection, "km that a refused offer costs", Range{0, 1000});
    visit("unserved", unserved, "km that a request costs that fits nowhere", Range{0, 100'000});
    visit("oracle", oracle,
          "how routes are planned: insertion, relocate, rr-N for N rounds of ruin and recreate, "
          "neural for a network's plan, neural:FILE for another network's");
    visit("versus", versus,
          "none: rewards as they are; null, myopic: less what changing nothing, or the myopic "
          "offers of the exact belief, earn in the same step of the same day",
          Choices{"none", "null", "myopic"});
    visit("prices", prices,
          "what offers are thought to save in the observation set. insertion: by the cheapest "
          "place; relocate: and moves of single requests",
          Choices{"insertion", "relocate"});
    visit("obs", obs,
          "list: [C, 6], a row per request; hist: [606, 2], counts by zone and half-hour; "
          "set: tokens, savings, chances and belief",
          Choices{"list", "hist", "set"});
    visit("belief", belief, "append the belief about the caller's type to list and hist");
    visit("people", people, "the seed of the customers' hidden types, the same in all envs");
    visit("strangers", strangers,
          "every env has people of its own, of whom the others know nothing");
    visit("stay_days", stay_days, "episodes after which other people come; 0: they stay for ever",
          Range{0, 1'000'000'000});
    visit("mask", mask,
          "offers that may be made. none: all; known: what the true type takes; bayes, "
          "learnt: what the exact or the learnt belief says",
          Choices{"none", "known", "bayes", "learnt"});
    visit("mask_from", mask_from,
          "a belief's mask. argmax: of the likeliest type; sample: of a type "
          "drawn from it; soft: what is taken with a chance of 1/2 or more",
          Choices{"argmax", "sample", "soft"});
    visit("epsilon", epsilon, "how likely a belief's mask is ignored at first", Range{0, 1});
    visit("epsilon_decay", epsilon_decay, "its factor per day of all envs", Range{0, 1});
    visit("epsilon_floor", epsilon_floor,
          "its least: below 0.02 a wrong belief might never be found out", Range{0.02, 1});
    visit("embedding", embedding,
          "learns while the envs wait (sync), or beside the next rollout (async)",
          Choices{"sync", "async"});
    visit("embedding_interval", embedding_interval,
          "steps between trainings; 0: 10 days of all envs", Range{0, 1e15});
    visit("embedding_epochs", embedding_epochs, "passes over its samples per training",
          Range{1, 100'000});
    visit("embedding_buffer", embedding_buffer, "samples kept, the newest", Range{1, 100'000'000});
  }
};

/// What a config's words mean, for those who play days without the env.
BookingRules rules_of(const DvrptwConfig& config);
std::unique_ptr<Generator> generator_of(const DvrptwConfig& config);
Pricing pricing_of(const DvrptwConfig& config);
Observer observer_of(const DvrptwConfig& config);

/// Makes an oracle by its name; throws UsageError when there is none. Called once for every thread
/// that steps envs at the same time.
using OracleMaker = std::function<std::unique_ptr<RoutingOracle>(std::string_view name)>;

/// Many envs `dvrptw`: the envs of a range share one call of the oracle per step.
std::unique_ptr<VecEnv> make_dvrptw(const DvrptwConfig& config, std::size_t num_envs,
                                    std::uint64_t seed,
                                    const OracleMaker& make_oracle = make_search_oracle);

/// Lines for a catalog.
std::vector<EnvEntry> routing_envs(OracleMaker make_oracle = make_search_oracle);

}  // namespace penstock::routing
