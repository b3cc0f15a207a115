#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/version.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/verbs.h"
#include "penstock/core/base/json.h"
#include "penstock/core/base/thread_pool.h"
#include "penstock/core/base/version_info.h"
#include "penstock/core/contract/contract.h"
#include "penstock/core/fused/isa.h"
#include "penstock/core/train/config.h"
#include "penstock/core/train/engine.h"

namespace penstock::cli {
namespace {

using Json = nlohmann::json;

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

/// One thing that doctor looks at.
struct Finding {
  std::string what;
  bool good = true;
  std::string detail;
};

Finding check_torch() {
  const bool works = at::ones({2, 2}).matmul(at::ones({2, 2})).sum().item<float>() == 8.0F;
  return {"libtorch", works,
          fmt::format("{}, CUDA {}, MPS {}", TORCH_VERSION, at::hasCUDA() ? "yes" : "no",
                      at::hasMPS() ? "yes" : "no")};
}

Finding check_cores() {
  const char* omp = std::getenv("OMP_NUM_THREADS");
  return {"cores", true,
          fmt::format("{} usable, OMP_NUM_THREADS {}", available_cores(),
                      omp == nullptr ? "unset" : omp)};
}

Finding check_kernels() {
  return {"kernels", true, fmt::format("{}", fmt::join(fused::supported_isas(), ", "))};
}

Finding check_disk() {
  std::error_code error;
  const auto space = std::filesystem::space(".", error);
  const bool writable = access(".", W_OK) == 0;
  return {"disk", writable && !error && space.available > 100'000'000,
          fmt::format("current directory is {}writable, {:.1f} GB free", writable ? "" : "not ",
                      space.available / 1e9)};
}

Finding check_recipes() {
  const auto names = recipe_names();
  return {"recipes", !names.empty(),
          names.empty() ? "none found; set PENSTOCK_RECIPES to the folder that holds them"
                        : fmt::format("{}", fmt::join(names, ", "))};
}

Finding check_training(const Catalog& catalog) {
  Settings settings;
  settings.add("env.id", catalog.envs.front().name, "doctor");
  settings.add("env.num_envs", "4", "doctor");
  settings.add("rollout.steps", "8", "doctor");
  const RunPlan plan(settings, catalog);
  Engine engine(plan);
  engine.sample(plan.horizon());
  engine.update();
  return {
      "training", true,
      fmt::format("one update of {} works, digest {}", catalog.envs.front().name, engine.digest())};
}

Exit doctor(const Catalog& catalog, bool json) {
  const std::vector<Finding> findings = {
      {"penstock", true, fmt::format("{} ({})", version(), git_hash())},
      check_torch(),
      check_cores(),
      check_kernels(),
      check_disk(),
      check_recipes(),
      check_training(catalog)};
  bool good = true;
  Json out = Json::array();
  for (const Finding& finding : findings) {
    good = good && finding.good;
    out.push_back({{"check", finding.what}, {"ok", finding.good}, {"detail", finding.detail}});
    if (!json) {
      fmt::print("{:4} {:9} {}\n", finding.good ? "ok" : "BAD", finding.what, finding.detail);
    }
  }
  if (json) { fmt::print("{}\n", to_text(out)); }
  return good ? Exit::ok : Exit::failed;
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

Verb doctor_verb(Options& app, const Catalog& catalog) {
  auto json = std::make_shared<bool>(false);
  Options& verb = app.add_command("doctor", "check that this machine can train");
  verb.add_flag("--json", *json, "one line of JSON on stdout");
  return {&verb, [json, &catalog] { return doctor(catalog, *json); }};
}

}  // namespace penstock::cli
