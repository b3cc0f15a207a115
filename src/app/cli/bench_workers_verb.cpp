#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "app/cli/bench_options.h"
#include "app/cli/progress_bar.h"
#include "penstock/app/bench/bench.h"
#include "penstock/core/base/json_value.h"
#include "penstock/core/base/note.h"
#include "penstock/core/store/journal.h"
#include "penstock/tools/page/page.h"

namespace penstock::cli {
namespace {

using Cells = std::vector<WorkersCell>;

constexpr std::int64_t kSteps = 32;  // of a rollout, so that slow envs come round soon

struct WorkersArgs {
  BenchArgs bench;
  std::vector<std::int64_t> workers = {0, 1, 2, 4};
  std::vector<std::int64_t> num_envs = {8};
};

/// What the numbers of workers mean for this env.
struct Sweep {
  Settings base;
  bool python = false;
  std::int64_t most_workers = 1;

  [[nodiscard]] Settings at(std::int64_t num_envs, std::int64_t workers) const {
    Settings settings;
    const auto set = [&](const char* key, const std::string& value) {
      settings.add(key, value, "bench workers");
    };
    set("rollout.steps", std::to_string(kSteps));
    set("ppo.policy_epochs", "4");
    set("ppo.value_epochs", "4");
    set("ppo.minibatch", std::to_string(std::max<std::int64_t>(kSteps, kSteps * num_envs / 4)));
    // The same shards in every cell: the same work, bit for bit.
    set("rollout.shards", std::to_string(std::clamp<std::int64_t>(most_workers, 1, num_envs)));
    for (const Setting& s : base.all()) { settings.add(s.path, s.text, s.origin); }
    set("env.num_envs", std::to_string(num_envs));
    const bool automatic = workers == WorkersCell::kAuto;
    if (python) { set("env.num_workers", automatic ? "auto" : std::to_string(workers)); }
    if (!python || workers == 0) {
      set("threads", automatic ? "auto" : std::to_string(std::max<std::int64_t>(1, workers)));
    }
    return settings;
  }
};

std::string workers_text(const WorkersCell& cell) {
  return cell.workers == WorkersCell::kAuto ? "auto" : std::to_string(cell.workers);
}

std::string table_text(const Cells& cells) {
  std::string text = "  envs  workers  processes  threads  samples/s  vs first   cores busy\n";
  for (const WorkersCell& cell : cells) {
    text += fmt::format("{:>6}  {:>7}  {:>9}  {:>7}  {:>9}  {:>8.2f}  {:>9.0f} %\n", cell.num_envs,
                        workers_text(cell), cell.processes, cell.threads,
                        count_text(cell.rate.median), cell.vs_first, 100 * cell.cpu_util);
  }
  return text;
}

Json to_json(const Cells& cells, const std::string& env) {
  Json rows = Json::array();
  for (const WorkersCell& cell : cells) {
    rows.push_back({{"num_envs", cell.num_envs},
                    {"num_workers", workers_text(cell)},
                    {"processes", cell.processes},
                    {"threads", cell.threads},
                    {"samples_per_second", cell.rate.median},
                    {"low", cell.rate.low},
                    {"high", cell.rate.high},
                    {"vs_first", cell.vs_first},
                    {"cpu_util", cell.cpu_util}});
  }
  return {{"bench", "workers"}, {"env", env}, {"cells", rows}};
}

std::string to_csv(const Cells& cells) {
  std::string text =
      "num_envs,num_workers,processes,threads,samples_per_second,low,high,vs_first,cpu_util\n";
  for (const WorkersCell& cell : cells) {
    text += fmt::format("{},{},{},{},{},{},{},{:.3f},{:.3f}\n", cell.num_envs, workers_text(cell),
                        cell.processes, cell.threads, cell.rate.median, cell.rate.low,
                        cell.rate.high, cell.vs_first, cell.cpu_util);
  }
  return text;
}

/// A bar per cell, as long as it is fast against the first of its envs.
std::string picture(const Cells& cells) {
  constexpr double kRow = 26;
  constexpr double kLeft = 170;
  constexpr double kWidth = 860;
  double most = 1;
  for (const WorkersCell& cell : cells) { most = std::max(most, cell.vs_first); }
  const double bottom = 30 + kRow * static_cast<double>(cells.size());
  page::Svg svg(kWidth, bottom + 46, "Speed by number of workers");
  const page::Axis x(0, most * 1.08, kLeft, kWidth - 20, 8);
  for (const double tick : x.ticks()) {
    svg.line(x(tick), 18, x(tick), bottom, "grid");
    svg.text(x(tick), bottom + 18, x.label(tick), "tick mid");
  }
  double y = 24;
  for (const WorkersCell& cell : cells) {
    const bool automatic = cell.workers == WorkersCell::kAuto;
    svg.text(kLeft - 10, y + 14,
             fmt::format("{} envs, {}{}", cell.num_envs, workers_text(cell),
                         automatic           ? ""
                         : cell.workers == 1 ? " worker"
                                             : " workers"),
             "label end");
    svg.rect(kLeft, y, x(cell.vs_first) - kLeft, kRow - 8, automatic ? "bar chosen" : "bar", "",
             fmt::format("{} samples/s", count_text(cell.rate.median)));
    y += kRow;
  }
  svg.line(x(1), 18, x(1), bottom, "axis");
  svg.text((x.from() + x.to()) / 2, bottom + 38,
           "times as fast as the first of the same number of envs", "name mid");
  return svg.str();
}

std::string page_of(const Cells& cells, const std::string& env) {
  const std::string title = "Workers: " + env;
  return page::begin_page(title,
                          ".bar { fill: #7a8ba6; } .bar.chosen { fill: #1f9d8a; } "
                          "pre { overflow-x: auto; font-size: 13px; }") +
         "<h1>" + page::escaped(title) + "</h1>\n" +
         page::section("Speed", "Whole training iterations, measured in turns; auto in green.", "",
                       picture(cells)) +
         page::section("Figures", "", "", "<pre>" + page::escaped(table_text(cells)) + "</pre>\n") +
         page::end_page();
}

void write_all(const std::string& folder, const Cells& cells, const std::string& env) {
  namespace fs = std::filesystem;
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) { throw IoError(fmt::format("{}: {}", folder, failed.message())); }
  replace_text(fs::path(folder) / "workers.json", to_text(to_json(cells, env), 1) + "\n");
  replace_text(fs::path(folder) / "workers.csv", to_csv(cells));
  replace_text(fs::path(folder) / "workers.html", page_of(cells, env));
}

/// Without the numbers that this program cannot run.
std::vector<std::int64_t> possible(std::vector<std::int64_t> workers, const Sweep& sweep,
                                   const Catalog& catalog) {
  if (!sweep.python || std::ranges::find(workers, 0) == workers.end()) { return workers; }
  try {
    const RunPlan plan(sweep.at(1, 0), catalog);
    (void)plan.env().notes(1);
  } catch (const ConfigError& error) {
    std::erase(workers, 0);
    if (workers.empty()) { throw; }
    print_note(fmt::format("{}; left out, {} comes first", error.what(), workers[0]));
  }
  return workers;
}

Exit run(const WorkersArgs& args, const Catalog& catalog) {
  Sweep sweep{.base = args.bench.common.settings()};
  const RunPlan first(sweep.at(args.num_envs[0], WorkersCell::kAuto), catalog);
  const std::string env = first.config().env.id;
  sweep.python = std::ranges::any_of(
      first.fields(), [](const Field& field) { return field.path == "env.num_workers"; });
  sweep.most_workers = *std::ranges::max_element(args.workers);
  const auto plan = [&](std::int64_t num_envs, std::int64_t workers) {
    return std::make_unique<RunPlan>(sweep.at(num_envs, workers), catalog);
  };
  const Cells cells = bench_workers(plan, args.num_envs, possible(args.workers, sweep, catalog),
                                    args.bench.options);
  if (args.bench.common.json) {
    fmt::print("{}\n", to_text(to_json(cells, env)));
  } else {
    fmt::print("{}", table_text(cells));
  }
  if (const Setting* folder = sweep.base.find("run.dir")) {
    write_all(folder->text, cells, env);
    fmt::print(stderr, "penstock: workers.json, .csv and .html are in {}\n", folder->text);
  }
  return Exit::ok;
}

}  // namespace

Verb bench_workers_verb(Options& bench, const Catalog& catalog) {
  auto args = std::make_shared<WorkersArgs>();
  Options& verb = bench.add_command(
      "workers",
      "sequential and parallel side by side: workers of a Python env, threads of a native one");
  add_bench_options(verb, args->bench);
  verb.add_list("--sweep-workers", args->workers,
                "numbers of workers, as 0,1,2,4; 0: envs in this process, one thread; the first is "
                "what the others are compared with")
      .within(0, 4096);
  verb.add_list("--sweep-envs", args->num_envs, "numbers of envs, as 1,4,8").within(1, 65536);
  verb.set_footer("With --output-dir the table is also written as JSON, CSV and a page.");
  return {&verb, [args, &catalog] { return run(*args, catalog); }};
}

}  // namespace penstock::cli
