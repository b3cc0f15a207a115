#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>
#include <torch/version.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include "app/cli/progress_bar.h"
#include "app/cli/verbs.h"
#include "penstock/app/bench/bench.h"
#include "penstock/core/base/json_value.h"
#include "penstock/core/base/text.h"
#include "penstock/core/base/thread_pool.h"
#include "penstock/core/base/version_info.h"
#include "penstock/core/contract/contract.h"
#include "penstock/core/fused/isa.h"
#include "penstock/core/train/config.h"
#include "penstock/core/train/engine.h"

namespace penstock::cli {
namespace {

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

std::vector<Finding> check_machine(const Catalog& catalog) {
  return {{"penstock", true, fmt::format("{} ({})", version(), git_hash())},
          check_torch(),
          check_cores(),
          check_kernels(),
          check_disk(),
          check_recipes(),
          check_training(catalog)};
}

/// Runs a program that examines an env; what it says goes on to stdout and stderr as it is.
Finding examine(const std::vector<std::string>& words) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    dup2(STDERR_FILENO, STDOUT_FILENO);  // stdout is this program's answer
    become(words);
    _exit(127);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) {
    return {"env", false, "the program that examines it could not be started"};
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
    return {"env", false, words[0] + " could not be started; name another with --set env.python="};
  }
  const bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return {"env", good, good ? "keeps what Gymnasium expects" : "see the lines marked failed"};
}

/// Of an env of this program.
Finding check_promises(const Catalog& catalog, const std::string& id) {
  for (const EnvEntry& entry : catalog.envs) {
    if (entry.name != id) { continue; }
    const std::string broken = broken_promises(check_contract(entry));
    return {"env", broken.empty(), broken.empty() ? "keeps every promise of an env" : broken};
  }
  return {"env", false, "not one of `penstock envs`"};
}

/// Env steps a second, one at a time and as `auto` does it.
Finding check_parallel(const Settings& given, const Catalog& catalog) {
  const auto speed = [&](const char* workers) {
    Settings settings = given;
    settings.add(kWorkersKey, workers, "doctor");
    const RunPlan plan(settings, catalog);
    return bench_env(plan, {.rounds = 3, .round_seconds = 0.3}).median;
  };
  const double one = speed("1");
  const double automatic = speed("auto");
  return {"parallel", true,
          fmt::format("{} steps/s with one worker or thread, {} by auto: {:.2f} times",
                      count_text(one), count_text(automatic), automatic / one)};
}

std::vector<Finding> check_env(const Settings& settings, const Catalog& catalog) {
  const std::unique_ptr<RunPlan> plan = std::make_unique<RunPlan>(settings, catalog);
  const std::string& id = plan->config().env.id;
  const std::vector<std::string> program = plan->env().examiner();
  std::vector<Finding> findings = {program.empty() ? check_promises(catalog, id)
                                                   : examine(program)};
  if (!findings.back().good) { return findings; }
  for (const std::string& note : plan->env().notes(plan->config().env.num_envs)) {
    findings.push_back({"workers", true, note});
  }
  findings.push_back(check_parallel(settings, catalog));
  const double megabytes = static_cast<double>(plan->memory().total()) / 1e6;
  findings.push_back({"memory", true,
                      fmt::format("{:.1f} MB for {} envs, beside the envs themselves", megabytes,
                                  plan->config().env.num_envs)});
  return findings;
}

Exit report(const std::vector<Finding>& findings, bool json) {
  bool good = true;
  Json out = Json::array();
  for (const Finding& finding : findings) {
    good = good && finding.good;
    out.push_back({{"check", finding.what}, {"ok", finding.good}, {"detail", finding.detail}});
    if (!json) {
      fmt::print("{:4} {:9} {}\n", finding.good ? "ok" : "BAD", finding.what,
                 printable(finding.detail));
    }
  }
  if (json) { fmt::print("{}\n", to_text(out)); }
  return good ? Exit::ok : Exit::failed;
}

}  // namespace

Verb doctor_verb(Options& app, const Catalog& catalog) {
  auto common = std::make_shared<Common>();
  Options& verb = app.add_command("doctor", "check that this machine can train, or an env");
  add_key(verb, *common, "--env", "env.id",
          "check this env instead: spaces, seeds, masks, speed, and whether parallel pays");
  add_key(verb, *common, "--num-envs,--n-envs", "env.num_envs", "with --env: envs side by side");
  verb.add_repeated("--set", common->assignments, "with --env: set any key (may be repeated)");
  verb.add_flag("--json", common->json, "one line of JSON on stdout");
  return {&verb, [common, &catalog] {
            const Settings settings = common->settings();
            const bool of_env = settings.find("env.id") != nullptr;
            return report(of_env ? check_env(settings, catalog) : check_machine(catalog),
                          common->json);
          }};
}

}  // namespace penstock::cli
