#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include "domains/booking/cli/verbs.h"
#include "penstock/core/base/thread_pool.h"
#include "penstock/core/train/engine.h"
#include "penstock/domains/booking/neural/neural_oracle.h"
#include "penstock/domains/booking/neural/train/oracle_report.h"
#include "penstock/domains/booking/neural/train/trainer.h"

namespace penstock::booking {
namespace {

struct TrainArgs {
  std::string out;
  std::string mode = "both";
  std::string lessons_file;
  std::int64_t lessons = 40'000;
  std::int64_t threads = 0;
  bool resume = false;
  TrainingOptions options;
};

struct EvalOracleArgs {
  std::string model;
  std::int64_t threads = 0;
  bool json = false;
  OracleReportOptions options;
};

std::unique_ptr<ThreadPool> make_pool(std::int64_t threads) {
  const std::size_t count = threads > 0 ? static_cast<std::size_t>(threads) : available_cores();
  auto pool = std::make_unique<ThreadPool>(
      ThreadPool::Options{.num_threads = count, .on_start = use_one_torch_thread});
  pool->use(pool->size());
  return pool;
}

Modes modes_of(const std::string& word) {
  return word == "ride" ? Modes::ride : word == "deliver" ? Modes::deliver : Modes::both;
}

std::vector<Demonstration> lessons_of(const TrainArgs& args, ThreadPool& pool) {
  if (!args.lessons_file.empty() && std::filesystem::exists(args.lessons_file)) {
    return load_demonstrations(args.lessons_file);
  }
  const auto count = static_cast<std::size_t>(args.lessons);
  std::vector<Demonstration> lessons = make_demonstrations(
      modes_of(args.mode), count, args.options.seed, pool,
      [&](std::size_t done) { fmt::print(stderr, "lessons {}/{}\n", done, count); });
  if (!args.lessons_file.empty()) { save_demonstrations(args.lessons_file, lessons); }
  return lessons;
}

void print(const TrainingReport& line) {
  fmt::print(
      stderr,
      "{} step {} | {:.1f} min | {} {:.4f} | ride gap {:.2f} % | deliver gap {:.2f} % | dead "
      "ends {:.2f} %\n",
      line.phase, line.step, line.minutes, line.loss > 0 ? "loss" : "cost / teacher's",
      line.loss > 0 ? line.loss : line.mean_cost, 100 * line.ride_gap, 100 * line.deliver_gap,
      100 * line.dead_ends);
}

Exit train(TrainArgs args) {
  TrainingOptions& options = args.options;
  const bool by_steps = options.imitate.steps > 0 || options.reinforce.steps > 0;
  if (by_steps) { options.imitate.minutes = options.reinforce.minutes = 0; }
  options.modes = modes_of(args.mode);
  const auto pool = make_pool(args.threads);
  std::vector<Demonstration> lessons = lessons_of(args, *pool);
  OracleTrainer trainer(options, std::move(lessons), *pool);
  const std::string state = args.out + ".state";
  if (args.resume) { trainer.load_state(state); }
  const auto save = [&](const TrainingReport& line) {
    print(line);
    trainer.model().notes = {{"imitation_steps", std::to_string(trainer.imitation_steps())},
                             {"reinforce_steps", std::to_string(trainer.reinforce_steps())},
                             {"seed", std::to_string(options.seed)},
                             {"mode", args.mode}};
    trainer.model().save(args.out);
    trainer.save_state(state);
  };
  trainer.run(save);
  std::error_code ignored;
  std::filesystem::remove(state, ignored);
  fmt::print("{}\n", args.out);
  return Exit::ok;
}

Exit eval_oracle(const EvalOracleArgs& args) {
  const std::string path = args.model.empty() ? model_path(kDefaultModel) : args.model;
  const auto model = pack(Model::load(path));
  const auto pool = make_pool(args.threads);
  const OracleReport found = report_oracle(model, *pool, args.options);
  fmt::print("{}{}", args.json ? found.json() : found.text(), args.json ? "\n" : "");
  return Exit::ok;
}

void add_lengths(Options& verb, TrainingOptions& options) {
  options.imitate.minutes = 45;
  options.reinforce.minutes = 15;
  verb.add("--minutes", options.imitate.minutes,
           "minutes of imitating the teacher (default 45); the result depends on the machine")
      .within(0.0, 1e6);
  verb.add("--reinforce-minutes", options.reinforce.minutes,
           "minutes of learning from its own plans (default 15)")
      .within(0.0, 1e6);
  verb.add("--steps", options.imitate.steps,
           "steps of imitating, instead of minutes: the same seed and lessons give the same bits")
      .within(0, 1'000'000'000);
  verb.add("--reinforce-steps", options.reinforce.steps, "steps of learning from its own plans")
      .within(0, 1'000'000'000);
}

void add_network(Options& verb, TrainingOptions& options) {
  verb.add("--layers", options.shape.layers, "layers of the encoder (default 3)").within(1, 64);
  verb.add("--heads", options.shape.heads, "attention heads of 16 numbers each (default 8)")
      .within(1, 64);
  verb.add("--hidden", options.shape.hidden, "hidden width of each layer (default 512)")
      .within(16, 4096);
  verb.add("--batch-tokens", options.batch_tokens, "stops per step (default 1792)")
      .within(16, 1'000'000);
  verb.add("--samples", options.samples, "plans drawn per day; their mean is the baseline")
      .within(2, 1024)
      .show_default();
  verb.add("--rate", options.imitation_rate, "initial learning rate of imitation (default 0.001)")
      .within(0.0, 1.0);
  verb.add("--reinforce-rate", options.reinforce_rate,
           "initial learning rate on its own plans (default 0.0001)")
      .within(0.0, 1.0);
}

Verb train_verb(Options& app) {
  auto args = std::make_shared<TrainArgs>();
  Options& verb = app.add_command("train", "train a neural routing oracle");
  verb.add("--out", args->out, "file of the model; FILE.state stands beside it until the end")
      .required();
  verb.add("--mode", args->mode, "kind of days to learn from")
      .one_of({"both", "ride", "deliver"})
      .show_default();
  verb.add("--lessons", args->lessons, "days that the teacher plans (default 40000)")
      .within(1, 100'000'000);
  verb.add("--lessons-file", args->lessons_file,
           "file of the lessons: read if it exists, else written");
  verb.add("--seed", args->options.seed, "seed of weights, days and order (default 1)");
  verb.add("--threads", args->threads, "threads; without it, all cores").within(1, 1024);
  verb.add_flag("--resume", args->resume, "go on from FILE.state");
  add_lengths(verb, args->options);
  add_network(verb, args->options);
  return {&verb, [args] { return train(*args); }};
}

Verb eval_oracle_verb(Options& app) {
  auto args = std::make_shared<EvalOracleArgs>();
  Options& verb = app.add_command(
      "eval", "compare a neural oracle with long searches: gaps, ranks of offers, speed");
  verb.add("--model", args->model, "file of the model; without it, the one that ships");
  verb.add("--days", args->options.days, "days of each mode and size (default 100); 0: none")
      .within(0, 1'000'000);
  verb.add_list("--sizes", args->options.sizes, "requests of a day (default 20,30,50)")
      .within(2, 1000);
  verb.add("--questions", args->options.questions,
           "requests of each mode whose 16 offers are ranked (default 100)")
      .within(0, 1'000'000);
  verb.add("--seconds", args->options.seconds,
           "seconds of each measurement of speed (default 2); 0: none")
      .within(0.0, 3600.0);
  verb.add("--seed", args->options.seed, "seed of the days (default 1000000)");
  verb.add("--threads", args->threads, "threads; without it, all cores").within(1, 1024);
  verb.add_flag("--json", args->json, "one line of JSON on stdout");
  return {&verb, [args] { return eval_oracle(*args); }};
}

}  // namespace

std::vector<Verb> oracle_verbs(Options& app) {
  Options& group = app.add_command("oracle", "the neural routing oracle: train it, compare it");
  group.require_command();
  return {train_verb(group), eval_oracle_verb(group)};
}

}  // namespace penstock::booking
