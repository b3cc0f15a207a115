#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/version.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/verbs.h"
#include "cli/version.h"
#include "penstock/base/thread_pool.h"
#include "penstock/fused/isa.h"
#include "penstock/train/config.h"
#include "penstock/train/engine.h"

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
    fmt::print("{}\n", all.dump());
    return Exit::ok;
  }
  for (const EnvEntry& entry : catalog.envs) {
    const EnvSpec spec = entry.make_factory()->spec();
    fmt::print("{:14} {:>5} floats  {:28} {}\n", entry.name, spec.obs.num_features(),
               action_text(spec.action), entry.doc);
  }
  return Exit::ok;
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
  const Plan plan(common.settings(), catalog);
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
                      static_cast<double>(space.available) / 1e9)};
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
  const Plan plan(settings, catalog);
  Engine engine(plan);
  engine.sample(plan.config().horizon());
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
  if (json) { fmt::print("{}\n", out.dump()); }
  return good ? Exit::ok : Exit::failed;
}

}  // namespace

Verb envs_verb(CLI::App& app, const Catalog& catalog) {
  auto json = std::make_shared<bool>(false);
  CLI::App* verb = app.add_subcommand("envs", "list the envs of the catalog");
  verb->add_flag("--json", *json, "one line of JSON on stdout");
  return {verb, [json, &catalog] { return envs(catalog, *json); }};
}

Verb config_verb(CLI::App& app, const Catalog& catalog) {
  auto common = std::make_shared<Common>();
  auto args = std::make_shared<ConfigArgs>();
  CLI::App* verb =
      app.add_subcommand("config", "print the resolved config, or every key as a table");
  add_config_options(*verb, *common);
  verb->add_flag("--markdown", args->markdown, "as a Markdown table with defaults and doc lines");
  verb->add_flag("--recipes", args->recipes, "list the recipes instead");
  return {verb, [common, args, &catalog] { return config(*common, *args, catalog); }};
}

Verb doctor_verb(CLI::App& app, const Catalog& catalog) {
  auto json = std::make_shared<bool>(false);
  CLI::App* verb = app.add_subcommand("doctor", "check that this machine can train");
  verb->add_flag("--json", *json, "one line of JSON on stdout");
  return {verb, [json, &catalog] { return doctor(catalog, *json); }};
}

}  // namespace penstock::cli
