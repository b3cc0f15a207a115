#include "penstock/domains/booking/slots/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <sstream>

#include "domains/booking/slots/report.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/thread_pool.h"
#include "penstock/core/store/journal.h"
#include "penstock/domains/booking/slots/contest.h"

namespace penstock::booking {
namespace {

struct SlotsArgs {
  std::string sellers = "null,static,incentive,myopic,myopic-bayes,blend,foresight";
  std::string policy;
  std::string families;
  std::string sizes;
  std::string report;
  std::int64_t episodes = 100;
  std::uint64_t seed = 0;
  int threads = 1;
  std::vector<std::string> assignments;
  bool json = false;
  bool profits = false;
};

std::vector<std::string> split_words(const std::string& list) {
  std::vector<std::string> words;
  std::istringstream in(list);
  for (std::string word; std::getline(in, word, ',');) { words.push_back(word); }
  return words;
}

std::vector<NamedSeller> sellers_of(const SlotsArgs& args) {
  std::vector<NamedSeller> sellers;
  std::vector<std::string> names = split_words(args.sellers);
  const bool has_trained = std::ranges::find(names, "trained") != names.end();
  if (!args.policy.empty() && !has_trained) { names.emplace_back("trained"); }
  for (const std::string& name : names) {
    if (name != "trained") {
      make_slot_seller(name);  // a misspelt one is told at once
      sellers.push_back({name, [name] { return make_slot_seller(name); }});
      continue;
    }
    if (args.policy.empty()) {
      throw UsageError(
          "--sellers trained: --policy FILE is missing; `penstock export RUN` makes one");
    }
    const auto model = PolicyModel::load(args.policy);
    make_trained_seller(model);
    sellers.push_back({name, [model] { return make_trained_seller(model); }});
  }
  if (sellers.empty()) { throw UsageError("--sellers: name at least one, as in null,myopic"); }
  return sellers;
}

/// One market of the table; empty words leave what --set said.
SlotsConfig config_of(const SlotsArgs& args, const std::string& family, const std::string& size) {
  Settings settings;
  for (const std::string& each : args.assignments) { settings.add_assignment(each, "--set"); }
  if (!family.empty()) { settings.add("env.family", family, "--families"); }
  if (!size.empty()) {
    const auto colon = size.find(':');
    if (colon == std::string::npos) {
      throw UsageError("--sizes " + size + ": expected customers:vehicles, as in 60:6");
    }
    settings.add("env.customers", size.substr(0, colon), "--sizes");
    settings.add("env.vehicles", size.substr(colon + 1), "--sizes");
  }
  SlotsConfig config;
  std::vector<Field> fields = fields_of(config, "env.");
  penstock::apply(fields, settings);
  return config;
}

/// The words of a list, or one that is empty.
std::vector<std::string> or_none(const std::string& list) {
  auto words = split_words(list);
  if (words.empty()) { words.emplace_back(); }
  return words;
}

/// The first market's first episode, under the last seller.
ShownEpisode first_episode(const SlotsArgs& args, const std::vector<NamedSeller>& sellers) {
  const SlotsConfig config =
      config_of(args, or_none(args.families).front(), or_none(args.sizes).front());
  const SlotMarket market(config);
  const std::unique_ptr<SlotSeller> seller = sellers.back().make();
  return {.seller = sellers.back().name,
          .market = fmt::format("{}, {} customers", config.family, config.customers),
          .slots = market.slots(),
          .calls = answered_calls(market, *seller, episode_seed(args.seed, 0, 0))};
}

Exit run_slots(const SlotsArgs& args) {
  const std::vector<NamedSeller> sellers = sellers_of(args);
  ThreadPool pool({.num_threads = static_cast<std::size_t>(args.threads)});
  std::vector<SlotContest> contests;
  for (const std::string& family : or_none(args.families)) {
    for (const std::string& size : or_none(args.sizes)) {
      const SlotMarket market(config_of(args, family, size));
      contests.push_back(play_contest(market, sellers, args.episodes, args.seed, pool));
      const SlotContest& contest = contests.back();
      fmt::print("{}\n", args.json ? contest.json(args.profits) : contest.text());
    }
  }
  if (!args.report.empty()) {
    replace_text(args.report, slots_page(contests, first_episode(args, sellers)));
  }
  return Exit::ok;
}

}  // namespace

std::function<Exit()> add_slots_options(Options& verb) {
  auto args = std::make_shared<SlotsArgs>();
  verb.add("--sellers", args->sellers,
           "some of null, static, incentive, myopic, myopic-bayes, blend, programme, foresight-N, "
           "rollout-N, hindsight, trained; differences are to the first")
      .show_default();
  verb.add("--policy", args->policy, "the policy file of the seller trained");
  verb.add("--families", args->families, "markets to compare on, as in city,delivery,csv");
  verb.add("--sizes", args->sizes, "customers and vehicles to compare on, as in 30:4,60:6");
  verb.add("--report", args->report, "a page to write: who earns what, and a day call by call");
  verb.add("--episodes", args->episodes, "episodes of each market")
      .within(1, 10'000'000)
      .show_default();
  verb.add("--seed", args->seed, "seed of the episodes (default 0)");
  verb.add("--threads", args->threads, "threads").within(1, 1024).show_default();
  verb.add_repeated("--set", args->assignments, "set a key of the env slots: --set env.days=2");
  verb.add_flag("--json", args->json, "a line of JSON per market");
  verb.add_flag("--profits", args->profits, "with --json: the profit of every episode too");
  return [args] { return run_slots(*args); };
}

}  // namespace penstock::booking
