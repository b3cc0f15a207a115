#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>

#include "app/cli/bench_options.h"
#include "app/cli/progress_bar.h"
#include "penstock/core/algo/learner.h"
#include "penstock/core/base/json_value.h"
#include "penstock/core/base/thread_pool.h"
#include "penstock/core/fused/isa.h"

namespace penstock::cli {
namespace {

Exit env(const BenchArgs& args, const Catalog& catalog) {
  const RunPlan plan(args.common.settings(), catalog);
  const Rate rate = bench_env(plan, args.options);
  if (args.common.json) {
    fmt::print("{}\n", to_text(Json{{"bench", "env"},
                                    {"env", plan.config().env.id},
                                    {"num_envs", plan.config().env.num_envs},
                                    {"threads", plan.config().threads},
                                    {"steps_per_second", rate.median},
                                    {"low", rate.low},
                                    {"high", rate.high}}));
  } else {
    fmt::print("{} steps/s ({} to {}), {} x {}\n", count_text(rate.median), count_text(rate.low),
               count_text(rate.high), plan.config().env.num_envs, plan.config().env.id);
  }
  return Exit::ok;
}

/// The work that other systems are measured on: CartPole, T = 128, 4 epochs.
Settings matched_work() {
  Settings settings;
  settings.add("rollout.steps", "128", "bench");
  settings.add("ppo.policy_epochs", "4", "bench");
  settings.add("ppo.value_epochs", "4", "bench");
  settings.add("ppo.minibatch", "2048", "bench");
  return settings;
}

Settings with_matched_work(const Settings& given) {
  Settings settings = matched_work();
  for (const Setting& s : given.all()) { settings.add(s.path, s.text, s.origin); }
  return settings;
}

Exit ppo(const BenchArgs& args, const Catalog& catalog) {
  const RunPlan plan(with_matched_work(args.common.settings()), catalog);
  const PpoBench result = bench_ppo(plan, args.options);
  const RunConfig& config = plan.config();
  const TimeSplit& split = result.split;
  if (args.common.json) {
    Json line = {{"bench", "ppo"},
                 {"env", config.env.id},
                 {"num_envs", config.env.num_envs},
                 {"minibatch", plan.algorithm().minibatch(plan.samples_per_update())},
                 {"shards", config.rollout.shards},
                 {"threads", result.threads},
                 {"learner", result.fused ? "fused" : "eager"},
                 {"isa", fused::current_isa()},
                 {"samples_per_second", result.ours.median},
                 {"low", result.ours.low},
                 {"high", result.ours.high},
                 {"perf",
                  {{"env_frac", split.env},
                   {"infer_frac", split.infer},
                   {"copy_frac", split.copy},
                   {"learn_frac", split.learn}}}};
    if (args.options.bare) {
      line["bare_samples_per_second"] = result.bare.median;
      line["bare_low"] = result.bare.low;
      line["bare_high"] = result.bare.high;
      line["ratio"] = result.ratio;
    }
    fmt::print("{}\n", to_text(line));
    return Exit::ok;
  }
  fmt::print("{} samples/s end to end ({} to {}), {} on {}, threads {}\n",
             count_text(result.ours.median), count_text(result.ours.low),
             count_text(result.ours.high), result.fused ? "fused" : "eager", fused::current_isa(),
             result.threads);
  fmt::print("time: envs {:.1f} %, inference {:.1f} %, copies {:.1f} %, learning {:.1f} %\n",
             100 * split.env, 100 * split.infer, 100 * split.copy, 100 * split.learn);
  if (args.options.bare) {
    fmt::print("bare libtorch: {} samples/s, ratio {:.2f}\n", count_text(result.bare.median),
               result.ratio);
  }
  return Exit::ok;
}

struct ScaleArgs {
  BenchArgs bench;
  std::vector<std::int64_t> num_envs = {64, 256, 1024, 4096};
  std::vector<std::int64_t> threads;  // empty: 1, 2, 4 ... up to the cores
};

std::vector<std::int64_t> threads_up_to_cores() {
  const std::int64_t cores = available_cores();
  std::vector<std::int64_t> threads;
  for (std::int64_t count = 1; count < cores; count *= 2) { threads.push_back(count); }
  threads.push_back(cores);
  return threads;
}

void print_scale(const std::vector<ScaleRow>& rows) {
  for (const ScaleRow& row : rows) {
    for (const ScaleCell& cell : row.cells) {
      fmt::print("{:>6} envs {:>3} threads {:>8} samples/s  {:.2f} x one thread, cost {:.2f}{}\n",
                 cell.num_envs, cell.threads, count_text(cell.rate.median), cell.vs_one_thread,
                 cell.cost_vs_fewest, cell.threads == row.picked ? "  <- auto" : "");
    }
  }
}

Json scale_json(const std::vector<ScaleRow>& rows) {
  Json cells = Json::array();
  for (const ScaleRow& row : rows) {
    for (const ScaleCell& cell : row.cells) {
      cells.push_back({{"num_envs", cell.num_envs},
                       {"threads", cell.threads},
                       {"samples_per_second", cell.rate.median},
                       {"low", cell.rate.low},
                       {"high", cell.rate.high},
                       {"vs_one_thread", cell.vs_one_thread},
                       {"cost_vs_fewest_envs", cell.cost_vs_fewest},
                       {"auto", cell.threads == row.picked}});
    }
  }
  return {{"bench", "scale"}, {"cells", cells}};
}

/// Fails when what `auto` picks is slower than one thread.
Exit scale(const ScaleArgs& args, const Catalog& catalog) {
  const Settings base = with_matched_work(args.bench.common.settings());
  const auto plan = [&](std::int64_t num_envs, std::int64_t threads) {
    Settings settings = base;
    settings.add("env.num_envs", std::to_string(num_envs), "bench scale");
    settings.add("threads", std::to_string(threads), "bench scale");
    return std::make_unique<RunPlan>(settings, catalog);
  };
  const std::vector<std::int64_t> threads =
      args.threads.empty() ? threads_up_to_cores() : args.threads;
  const std::vector<ScaleRow> rows = bench_scale(plan, args.num_envs, threads, args.bench.options);
  if (args.bench.common.json) {
    fmt::print("{}\n", to_text(scale_json(rows)));
  } else {
    print_scale(rows);
  }
  for (const ScaleRow& row : rows) {
    if (row.picked_vs_one < 1) {
      throw Error(Exit::failed,
                  fmt::format("threads = auto picks {} for {} envs, which is {:.2f} of one thread",
                              row.picked, row.num_envs, row.picked_vs_one));
    }
  }
  return Exit::ok;
}

/// The program that installs and measures other systems, beside this one: in an install tree, in
/// the source tree of a build tree, or where PENSTOCK_COMPARE says.
std::filesystem::path compare_program() {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path here = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  const char* given = std::getenv("PENSTOCK_COMPARE");
  for (const fs::path& path :
       {fs::path(given == nullptr ? "" : given), here / "../share/penstock/compare/compare",
        here / "../../bench/compare/compare", here / "../bench/compare/compare"}) {
    if (fs::is_regular_file(path, ignored)) { return path; }
  }
  throw UsageError(
      "bench compare: its program bench/compare/compare is not beside this executable; set "
      "PENSTOCK_COMPARE to it");
}

/// Becomes that program, with the rest of the command line.
Exit compare(const std::vector<std::string>& rest) {
  const std::string program = compare_program();
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  std::vector<std::string> words = {"python3", program, "--penstock", self};
  words.insert(words.end(), rest.begin(), rest.end());
  std::cout.flush();
  become(std::move(words));
  throw IoError("bench compare: python3 could not be started; install Python 3.11 or later");
}

}  // namespace

void add_bench_options(Options& verb, BenchArgs& args) {
  add_config_options(verb, args.common);
  verb.add("--rounds", args.options.rounds, "rounds to measure; the median counts").within(1, 1000);
  verb.add("--round-seconds", args.options.round_seconds, "seconds of a round")
      .within(0.01, 3600.0);
  verb.add_call(
      "--duration",
      [&args](const std::string& text) {
        const bool bare = text.find_first_not_of("0123456789.") == std::string::npos;
        args.options.duration_s = seconds_of(bare ? text + "s" : text);
      },
      "how long to measure, instead of a number of rounds: 60s, 5m, or seconds");
  verb.add_flag("--json", args.common.json, "one line of JSON on stdout");
  if (isatty(STDERR_FILENO) == 1) {
    args.options.progress = [](int done, int total) {
      if (total == 0) {
        fmt::print(stderr, "\rround {}", done);
      } else {
        fmt::print(stderr, "\rround {}/{}{}", done, total, done == total ? "\n" : "");
      }
    };
  }
}

std::vector<Verb> bench_verbs(Options& app, const Catalog& catalog) {
  Options& bench = app.add_command("bench", "measure this machine");
  bench.require_command();
  auto env_args = std::make_shared<BenchArgs>();
  Options& env_app = bench.add_command("env", "env steps per second, without a policy");
  add_bench_options(env_app, *env_args);
  auto ppo_args = std::make_shared<BenchArgs>();
  Options& ppo_app = bench.add_command("ppo", "training samples per second beside bare libtorch");
  add_bench_options(ppo_app, *ppo_args);
  add_key(ppo_app, ppo_args->common, "--minibatch", "ppo.minibatch", "samples per gradient step");
  ppo_app.add_flag("--bare,!--no-bare", ppo_args->options.bare, "beside bare libtorch, or alone");
  auto scale_args = std::make_shared<ScaleArgs>();
  Options& scale_app = bench.add_command(
      "scale", "training samples per second by number of envs and threads, and what auto picks");
  add_bench_options(scale_app, scale_args->bench);
  scale_app.add_list("--sweep-envs", scale_args->num_envs, "numbers of envs, as 64,1024")
      .within(1, 65536);
  scale_app.add_list("--sweep-threads", scale_args->threads, "numbers of threads, the first is 1")
      .within(1, 4096);
  Options& compare_app =
      bench.add_command("compare", "train beside other systems, in turns: --peers sb3,cleanrl,jax");
  compare_app.pass_all_on();
  return {bench_workers_verb(bench, catalog),
          {&compare_app, [&compare_app] { return compare(compare_app.extras()); }},
          {&scale_app, [scale_args, &catalog] { return scale(*scale_args, catalog); }},
          {&env_app, [env_args, &catalog] { return env(*env_args, catalog); }},
          {&ppo_app, [ppo_args, &catalog] { return ppo(*ppo_args, catalog); }}};
}

}  // namespace penstock::cli
