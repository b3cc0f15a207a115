#include "domains/cage2/search/journaled_evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <thread>

#include "domains/cage2/search/workflow_json.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/json_value.h"
#include "penstock/core/base/thread_pool.h"

namespace penstock::cage2::detail {
namespace {

constexpr int kFormat = 1;

std::string path_of(const SearchOptions& options) { return options.out + "/journal.jsonl"; }

// FNV-1a, for the eye: what differs is found key by key.
std::string hash_of(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) { hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3; }
  return fmt::format("{:016x}", hash);
}

OrderedJson header_of(const SearchOptions& options) {
  OrderedJson shared = shared_json(options);
  shared["seed"] = options.seed;
  const std::string hash = hash_of(to_text(shared));
  return {{"journal", "cage2 search"}, {"format", kFormat}, {"hash", hash}, {"options", shared}};
}

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw DataError(fmt::format("{}: {}; choose another folder with --out", path, why));
}

void require_same(const std::string& path, const std::string& found, const OrderedJson& wanted) {
  const OrderedJson header = try_parse_ordered_json(found);
  const auto told = [&](const char* key) {
    return header.is_object() ? header.value(key, OrderedJson()) : OrderedJson();
  };
  const OrderedJson options = told("options");
  if (told("journal") != wanted["journal"] || told("format") != wanted["format"] ||
      !options.is_object()) {
    refuse(path, "is not a journal of a search");
  }
  for (const auto& [key, value] : wanted["options"].items()) {
    const OrderedJson there = options.value(key, OrderedJson());
    if (there == value) { continue; }
    throw ConfigError(
        fmt::format("{}: its evaluations have {} = {}, not {}; choose another folder with --out",
                    path, key, to_text(there), to_text(value)));
  }
  if (told("hash") != wanted["hash"]) { refuse(path, "its options are others"); }
}

}  // namespace

// One call of measure(). `done` and what follows it are guarded by the mutex.
struct JournaledEvaluator::Round {
  std::vector<WorkflowJob> jobs;  // not known yet
  std::mutex mutex;
  std::size_t next = 0;     // to be taken by a worker
  std::size_t entered = 0;  // in the journal
  bool failed = false;
  std::vector<std::optional<WorkflowResult>> results;
  std::vector<std::exception_ptr> failures;
};

JournaledEvaluator::JournaledEvaluator(const SearchOptions& options, const Evaluate& evaluate)
    : options_(options), evaluate_(evaluate) {
  if (options.out.empty()) { return; }
  const OrderedJson header = header_of(options);
  journal_.emplace(path_of(options), to_text(header));
  require_same(path_of(options), journal_->header(), header);
  read();
}

void JournaledEvaluator::read() {
  std::size_t number = 1;
  for (const std::string& line : journal_->lines()) {
    ++number;
    try {
      const OrderedJson json = parse_ordered_json(line);
      const OrderedJson key = {{"order", json.at("order")},
                               {"conditioned", json.at("conditioned")},
                               {"seed", json.at("seed")}};
      known_[to_text(key)] = result_of(json);
    } catch (const Json::exception&) {
      refuse(path_of(options_), fmt::format("line {} is damaged", number));
    }
  }
}

std::vector<WorkflowResult> JournaledEvaluator::measure(const std::vector<WorkflowJob>& jobs) {
  Round round;
  std::set<std::string> asked;
  for (const WorkflowJob& job : jobs) {
    const std::string key = to_text(key_json(job));
    if (!known_.contains(key) && asked.insert(key).second) { round.jobs.push_back(job); }
  }
  round.results.resize(round.jobs.size());
  round.failures.resize(round.jobs.size());

  const std::size_t team = std::min<std::size_t>(round.jobs.size(), std::max(options_.workers, 1));
  const std::size_t threads = team == 0 ? 1 : std::max<std::size_t>(1, available_cores() / team);
  for (WorkflowJob& job : round.jobs) { job.threads = threads; }
  {
    std::vector<std::jthread> workers;
    for (std::size_t i = 1; i < team; ++i) {
      workers.emplace_back([&] { work(round); });
    }
    work(round);
  }
  for (const std::exception_ptr& failure : round.failures) {
    if (failure) { std::rethrow_exception(failure); }
  }

  std::vector<WorkflowResult> results;
  results.reserve(jobs.size());
  for (const WorkflowJob& job : jobs) { results.push_back(known_.at(to_text(key_json(job)))); }
  return results;
}

void JournaledEvaluator::work(Round& round) {
  std::unique_lock lock(round.mutex);
  while (!round.failed && round.next < round.jobs.size()) {
    const std::size_t mine = round.next++;
    lock.unlock();
    std::optional<WorkflowResult> result;
    std::exception_ptr failure;
    try {
      result = evaluate_(round.jobs[mine]);
    } catch (...) { failure = std::current_exception(); }
    lock.lock();
    try {
      round.results[mine] = std::move(result);
      if (!failure) { enter(round); }
    } catch (...) { failure = std::current_exception(); }
    round.failures[mine] = failure;
    round.failed = round.failed || failure;
  }
}

void JournaledEvaluator::enter(Round& round) {
  while (round.entered < round.jobs.size() && round.results[round.entered]) {
    const std::size_t i = round.entered;
    log(round.jobs[i], *round.results[i]);
    ++round.entered;
  }
}

void JournaledEvaluator::log(const WorkflowJob& job, const WorkflowResult& result) {
  OrderedJson line = key_json(job);
  const std::string key = to_text(line);
  line.update(result_json(result));
  // What comes back from a journal is what went in, so that a resumed search sees the same numbers.
  WorkflowResult kept = result_of(parse_ordered_json(to_text(line)));
  kept.seconds = result.seconds;
  if (journal_) {
    journal_->append(to_text(line));
    std::ofstream(options_.out + "/times.csv", std::ios::app)
        << fmt::format("{},{},{:.3f}\n", search::index_of(job.order), job.seed, result.seconds);
  }
  known_[key] = kept;
  if (options_.on_result) { options_.on_result(job, kept); }
}

}  // namespace penstock::cage2::detail
