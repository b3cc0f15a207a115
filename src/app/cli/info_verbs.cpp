#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "app/cli/verbs.h"
#include "penstock/core/base/json_value.h"
#include "penstock/core/contract/contract.h"
#include "penstock/core/train/config.h"

namespace penstock::cli {
namespace {

Json action_json(const ActionSpec& action) {
  if (action.continuous()) {
    return {{"kind", "box"}, {"low", action.box().low}, {"high", action.box().high}};
  }
  return {{"kind", action.multi() ? "multi_discrete" : "discrete"},
          {"n", action.choices()},
          {"masked", action.masked()}};
}

std::string action_text(const ActionSpec& action) {
  if (action.continuous()) { return fmt::format("box {}", action.dims()); }
  return fmt::format("{} {}{}", action.multi() ? "multi-discrete" : "discrete",
                     fmt::join(action.choices(), "x"), action.masked() ? ", masked" : "");
}

Json env_json(const EnvEntry& entry) {
  const auto factory = entry.make_factory();
  const EnvSpec spec = factory->spec();
  Json parts = Json::array();
  for (const Part& part : spec.obs.parts()) {
    parts.push_back({{"name", part.name}, {"shape", part.shape}, {"offset", part.first_feature}});
  }
  Json keys = Json::object();
  for (const Field& field : factory->fields()) { keys[field.path] = field.doc; }
  return {{"name", entry.name},
          {"doc", entry.doc},
          {"observation", {{"size", spec.obs.num_features()}, {"parts", parts}}},
          {"action", action_json(spec.action)},
          {"max_episode_steps", spec.max_episode_steps},
          {"config", keys}};
}

Exit envs(const Catalog& catalog, bool json) {
  if (json) {
    Json all = Json::array();
    for (const EnvEntry& entry : catalog.envs) { all.push_back(env_json(entry)); }
    fmt::print("{}\n", to_text(all));
    return Exit::ok;
  }
  for (const EnvEntry& entry : catalog.envs) {
    const EnvSpec spec = entry.make_factory()->spec();
    fmt::print("{:14} {:>5} floats  {:28} {}\n", entry.name, spec.obs.num_features(),
               action_text(spec.action), entry.doc);
  }
  return Exit::ok;
}

struct EnvsArgs {
  bool json = false;
  std::string check;                     // name of the env to be checked; empty: list them
  std::vector<std::string> assignments;  // --set
  ContractOptions contract;
};

/// Of a list of the catalog, or known by its name alone.
EnvEntry entry_of(const Catalog& catalog, const std::string& name) {
  const auto known = std::ranges::find(catalog.envs, name, &EnvEntry::name);
  if (known != catalog.envs.end()) { return *known; }
  return {name, "an env in no list", [&catalog, name] { return catalog.env(name); }};
}

Json promises_json(const std::string& env, const std::vector<Promise>& promises) {
  Json all = Json::array();
  for (const Promise& promise : promises) {
    all.push_back(
        {{"promise", promise.text}, {"kept", promise.kept()}, {"broken", promise.broken}});
  }
  return {{"env", env}, {"kept", std::ranges::all_of(promises, &Promise::kept)}, {"promises", all}};
}

Exit check_env(const Catalog& catalog, const EnvsArgs& args) {
  const EnvEntry entry = with_settings(entry_of(catalog, args.check), args.assignments, "--set");
  const std::vector<Promise> promises = check_contract(entry, args.contract);
  if (args.json) {
    fmt::print("{}\n", to_text(promises_json(entry.name, promises)));
  } else {
    for (const Promise& promise : promises) {
      fmt::print("{:4} {}{}{}\n", promise.kept() ? "ok" : "BAD", promise.text,
                 promise.kept() ? "" : ": ", promise.broken);
    }
  }
  return std::ranges::all_of(promises, &Promise::kept) ? Exit::ok : Exit::failed;
}

struct ConfigArgs {
  bool markdown = false;
  bool recipes = false;
};

Exit config(const Common& common, const ConfigArgs& args, const Catalog& catalog) {
  if (args.recipes) {
    fmt::print("{}\n", fmt::join(recipe_names(), "\n"));
    return Exit::ok;
  }
  const RunPlan plan(common.settings(), catalog);
  fmt::print("{}", args.markdown ? to_markdown(plan.fields()) : to_toml(plan.fields()));
  return Exit::ok;
}

}  // namespace

Verb envs_verb(Options& app, const Catalog& catalog) {
  auto args = std::make_shared<EnvsArgs>();
  Options& verb = app.add_command("envs", "list the envs of the catalog, or check one");
  verb.add_flag("--json", args->json, "one line of JSON on stdout");
  verb.add("--check", args->check,
           "check that this env keeps what a trainer relies on; exit 1 when it does not");
  verb.add_repeated("--set", args->assignments,
                    "with --check: set a key of the env: --set env.length=5 (may be repeated)");
  verb.add("--steps", args->contract.max_steps,
           "with --check: steps of a trial at most; more than the longest episode")
      .within(1, 1000000000)
      .show_default();
  verb.add_flag("--seedless", args->contract.seedless,
                "with --check: episodes need not depend on the seed");
  return {&verb, [args, &catalog] {
            return args->check.empty() ? envs(catalog, args->json) : check_env(catalog, *args);
          }};
}

Verb config_verb(Options& app, const Catalog& catalog) {
  auto common = std::make_shared<Common>();
  auto args = std::make_shared<ConfigArgs>();
  Options& verb = app.add_command("config", "print the resolved config, or every key as a table");
  add_config_options(verb, *common);
  verb.add_flag("--markdown", args->markdown, "as a Markdown table with defaults and doc lines");
  verb.add_flag("--recipes", args->recipes, "list the recipes instead");
  return {&verb, [common, args, &catalog] { return config(*common, *args, catalog); }};
}

}  // namespace penstock::cli
