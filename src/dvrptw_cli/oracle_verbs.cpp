#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include "dvrptw_cli/verbs.h"
#include "penstock/base/thread_pool.h"
#include "penstock/routing_nn/neural_oracle.h"
#include "penstock/routing_nn_train/oracle_report.h"
#include "penstock/routing_nn_train/trainer.h"
#include "penstock/train/engine.h"

namespace penstock::routing {
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

std::vector<Lesson> lessons_of(const TrainArgs& args, ThreadPool& pool) {
  if (!args.lessons_file.empty() && std::filesystem::exists(args.lessons_file)) {
    return load_lessons(args.lessons_file);
  }
  const auto count = static_cast<std::size_t>(args.lessons);
  std::vector<Lesson> lessons =
      make_lessons(modes_of(args.mode), count, args.options.seed, pool,
                   [&](std::size_t done) { fmt::print(stderr, "lessons {}/{}\n", done, count); });
  if (!args.lessons_file.empty()) { save_lessons(args.lessons_file, lessons); }
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
  std::vector<Lesson> lessons = lessons_of(args, *pool);
  if (lessons.empty()) { throw UsageError("--lessons: too few; 1000 or more teach something"); }
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

void add_lengths(CLI::App& verb, TrainingOptions& options) {
  options.imitate.minutes = 45;
  options.reinforce.minutes = 15;
  verb.add_option("--minutes", options.imitate.minutes,
                  "of imitating the teacher (default 45); the result depends on the machine")
      ->check(CLI::Range(0.0, 1e6));
  verb.add_option("--reinforce-minutes", options.reinforce.minutes,
                  "of learning from its own plans (default 15)")
      ->check(CLI::Range(0.0, 1e6));
  verb.add_option("--steps", options.imitate.steps,
                  "instead of minutes: with the same seed and lessons the same bits come out")
      ->check(CLI::Range(0, 1'000'000'000));
  verb.add_option("--reinforce-steps", options.reinforce.steps, "likewise")
      ->check(CLI::Range(0, 1'000'000'000));
}

void add_network(CLI::App& verb, TrainingOptions& options) {
  verb.add_option("--layers", options.shape.layers, "of the encoder (default 3)")
      ->check(CLI::Range(1, 64));
  verb.add_option("--heads", options.shape.heads, "each 16 wide (default 8)")
      ->check(CLI::Range(1, 64));
  verb.add_option("--hidden", options.shape.hidden, "of each layer (default 512)")
      ->check(CLI::Range(16, 4096));
  verb.add_option("--batch-tokens", options.batch_tokens, "stops per step (default 1792)")
      ->check(CLI::Range(16, 1'000'000));
  verb.add_option("--samples", options.samples, "plans per day, whose mean is the baseline")
      ->check(CLI::Range(2, 1024))
      ->capture_default_str();
  verb.add_option("--rate", options.imitation_rate, "learning rate at first (default 0.001)")
      ->check(CLI::Range(0.0, 1.0));
  verb.add_option("--reinforce-rate", options.reinforce_rate, "likewise (default 0.0001)")
      ->check(CLI::Range(0.0, 1.0));
}

Verb train_verb(CLI::App& app) {
  auto args = std::make_shared<TrainArgs>();
  CLI::App* verb = app.add_subcommand("train", "train a neural routing oracle");
  verb->add_option("--out", args->out, "the model's file; beside it FILE.state until the end")
      ->required();
  verb->add_option("--mode", args->mode, "days to learn from")
      ->check(CLI::IsMember({"both", "ride", "deliver"}))
      ->capture_default_str();
  verb->add_option("--lessons", args->lessons, "days that the teacher plans (default 40000)")
      ->check(CLI::Range(1, 100'000'000));
  verb->add_option("--lessons-file", args->lessons_file,
                   "where they are kept: read if there, else written");
  verb->add_option("--seed", args->options.seed, "of weights, days and order (default 1)");
  verb->add_option("--threads", args->threads, "threads; without it, all cores")
      ->check(CLI::Range(1, 1024));
  verb->add_flag("--resume", args->resume, "go on from FILE.state");
  add_lengths(*verb, args->options);
  add_network(*verb, args->options);
  return {verb, [args] { return train(*args); }};
}

Verb eval_oracle_verb(CLI::App& app) {
  auto args = std::make_shared<EvalOracleArgs>();
  CLI::App* verb = app.add_subcommand(
      "eval", "compare a neural oracle with long searches: gaps, ranks of offers, speed");
  verb->add_option("--model", args->model, "a model's file; without it the one that ships");
  verb->add_option("--days", args->options.days, "of each mode and size (default 100); 0: none")
      ->check(CLI::Range(0, 1'000'000));
  verb->add_option("--sizes", args->options.sizes, "requests of a day (default 20,30,50)")
      ->delimiter(',')
      ->check(CLI::Range(2, 1000));
  verb->add_option("--questions", args->options.questions,
                   "requests of each mode whose 16 offers are ranked (default 100)")
      ->check(CLI::Range(0, 1'000'000));
  verb->add_option("--seconds", args->options.seconds,
                   "of each measurement of speed (default 2); 0: none")
      ->check(CLI::Range(0.0, 3600.0));
  verb->add_option("--seed", args->options.seed, "of the days (default 1000000)");
  verb->add_option("--threads", args->threads, "threads; without it, all cores")
      ->check(CLI::Range(1, 1024));
  verb->add_flag("--json", args->json, "one line of JSON on stdout");
  return {verb, [args] { return eval_oracle(*args); }};
}

}  // namespace

std::vector<Verb> oracle_verbs(CLI::App& app) {
  CLI::App* group = app.add_subcommand("oracle", "the neural routing oracle: train it, compare it");
  group->require_subcommand(1);
  return {train_verb(*group), eval_oracle_verb(*group)};
}

}  // namespace penstock::routing
