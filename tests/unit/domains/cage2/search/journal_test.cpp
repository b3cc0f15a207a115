#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "penstock/core/base/random.h"
#include "search_support.h"
#include "support/sanitized.h"

namespace journal_test {

using namespace penstock;
using namespace penstock::cage2;
using namespace penstock::cage2::test;

namespace {

SearchOptions journalled(const std::string& out) {
  SearchOptions options = quick_options();
  options.baselines = true;
  options.workers = 2;
  options.out = out;
  return options;
}

Evaluate never() {
  return [](const WorkflowJob&) -> WorkflowResult {
    FAIL("everything is in the journal");
    return {};
  };
}

pid_t start(const SearchOptions& options, double delay_s) {
  const pid_t child = ::fork();
  if (child == 0) {
    run_search(options, Synthetic{.delay_s = delay_s});
    ::_exit(0);
  }
  return child;
}

// True when it was still at work.
bool kill_after(pid_t child, double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status);
}

}  // namespace

TEST_CASE("a search killed again and again ends as one that was not") {
  const TempDir whole;
  const SearchResult expected = run_search(journalled(whole.path()), Synthetic{});
  const std::string journal = slurp(whole / "journal.jsonl");

  Random random(7);
  int landed = 0;
  for (int trial = 0; trial < 3; ++trial) {
    const TempDir dir;
    double patience_s = 0.04;  // grows, so that a slow machine comes to the end too
    while (kill_after(start(journalled(dir.path()), 0.004), random.uniform(0.002, patience_s))) {
      ++landed;
      patience_s *= 1.2;
      const std::string now = slurp(dir / "journal.jsonl");
      CHECK(journal.starts_with(now));
    }
    const SearchResult found = run_search(journalled(dir.path()), never());
    CHECK(slurp(dir / "journal.jsonl") == journal);
    CHECK(found.ranking == expected.ranking);
    CHECK(indices_of(found.trials) == indices_of(expected.trials));
    CHECK(found.belief.log_marginal == expected.belief.log_marginal);
  }
  MESSAGE(landed, " kills");
  CHECK(landed > 6);
}

TEST_CASE("a journal cut at any place is gone on with") {
  const TempDir whole;
  run_search(journalled(whole.path()), Synthetic{});
  const std::string journal = slurp(whole / "journal.jsonl");
  const std::size_t apart = kSanitized ? 9970 : 997;
  for (std::size_t size = 0; size < journal.size(); size += apart) {
    const TempDir dir;
    spill(dir / "journal.jsonl", journal.substr(0, size));
    run_search(journalled(dir.path()), Synthetic{});
    CHECK(slurp(dir / "journal.jsonl") == journal);
  }
}

TEST_CASE("a journal is one line per evaluation and a header that says of what") {
  const TempDir dir;
  SearchOptions options = journalled(dir.path());
  options.baselines = false;
  run_search(options, Synthetic{});
  const std::string journal = slurp(dir / "journal.jsonl");
  CHECK(num_lines(journal) == 21);
  CHECK(journal.find("\"hash\":\"") < journal.find('\n'));
  CHECK(journal.find("seconds") == std::string::npos);
  CHECK(num_lines(slurp(dir / "times.csv")) == 20);
}

TEST_CASE("compliance in evaluation comes back from the journal; a line without it has 0") {
  const TempDir dir;
  SearchOptions options = journalled(dir.path());
  options.baselines = false;
  std::vector<double> told;
  options.on_result = [&](const WorkflowJob&, const WorkflowResult& r) {
    told.push_back(r.eval_compliance);
  };
  run_search(options, [](const WorkflowJob& job) {
    WorkflowResult result = Synthetic{}(job);
    result.eval_compliance = 0.625;
    result.lost_compliance = 0.375;
    result.fixes = 12.5;
    result.worth = -40.25;
    return result;
  });
  CHECK(told == std::vector<double>(20, 0.625));
  std::string journal = slurp(dir / "journal.jsonl");
  for (const Trial& trial : run_search(options, never()).trials) {
    CHECK(trial.runs.front().eval_compliance == 0.625);
    CHECK(trial.runs.front().lost_compliance == 0.375);
    CHECK(trial.runs.front().fixes == 12.5);
    CHECK(trial.runs.front().worth == -40.25);
  }
  const std::string entry =
      R"("eval_compliance":0.625,"lost_compliance":0.375,"fixes":12.5,"worth":-40.25,)";
  for (std::size_t at = journal.find(entry); at != std::string::npos; at = journal.find(entry)) {
    journal.erase(at, entry.size());
  }
  spill(dir / "journal.jsonl", journal);
  for (const Trial& trial : run_search(options, never()).trials) {
    CHECK(trial.runs.front().eval_compliance == 0);
    CHECK(trial.runs.front().worth == 0);
  }
}

TEST_CASE("more is asked of the same journal" * doctest::skip(kSanitized)) {
  const TempDir dir;
  SearchOptions options = journalled(dir.path());
  options.baselines = false;
  run_search(options, Synthetic{});
  const std::string before = slurp(dir / "journal.jsonl");
  options.num_workflows = 30;
  options.baselines = true;
  options.exhaustive = true;
  run_search(options, Synthetic{});
  const std::string after = slurp(dir / "journal.jsonl");
  CHECK(after.starts_with(before));
  CHECK(num_lines(after) > 1 + 30 + 120 + 1);
  run_search(options, never());
}

TEST_CASE("a journal of other evaluations is refused and left alone") {
  const TempDir dir;
  const SearchOptions options = journalled(dir.path());
  run_search(options, Synthetic{});
  const std::string journal = slurp(dir / "journal.jsonl");
  const auto refused = [&](auto change, const char* text) {
    SearchOptions other = options;
    change(other);
    CHECK_THROWS_WITH_AS(run_search(other, never()), doctest::Contains(text), ConfigError);
  };
  refused([](auto& o) { o.job.red = "meander"; }, "red = \"bline\", not \"meander\"");
  refused([](auto& o) { o.job.n_envs = 7; }, "n_envs = 25, not 7");
  refused([](auto& o) { o.job.compliance_threshold = 0.9; }, "compliance_threshold");
  refused([](auto& o) { o.seed = 5; }, "seed = 0, not 5");
  refused([](auto& o) { o.evaluator = "ppo"; }, "evaluator");
  refused([](auto& o) { o.settings = {"env.macro=true"}; }, "set = null, not [\"env.macro=true\"]");
  refused([](auto& o) { o.job.min_episodes_per_env = 3; }, "min_episodes_per_env");
  CHECK(slurp(dir / "journal.jsonl") == journal);

  for (const std::string text : {"hello\n", "{}\n", "[1]\n", "{\"journal\":\"cage2 search\"}\n"}) {
    spill(dir / "journal.jsonl", text);
    CHECK_THROWS_AS(run_search(options, never()), DataError);
  }
  const std::string header = journal.substr(0, journal.find('\n'));
  const auto damaged = [&](const std::string& what, const std::string& instead) {
    const std::size_t at = header.find(what);
    REQUIRE(at != std::string::npos);
    spill(dir / "journal.jsonl", std::string(header).replace(at, what.size(), instead) + "\n");
    CHECK_THROWS_AS(run_search(options, never()), DataError);
  };
  damaged("\"cage2 search\"", "7");
  damaged("\"format\":1", "\"format\":\"one\"");
  damaged("\"hash\":", "\"hush\":");
  damaged("\"options\":{", "\"options\":5,\"others\":{");
  spill(dir / "journal.jsonl", journal.substr(0, journal.find('\n') + 1) + "{\"order\":[0]}\n");
  CHECK_THROWS_WITH_AS(run_search(options, never()), doctest::Contains("line 2 is damaged"),
                       DataError);
}

TEST_CASE("an evaluation that throws ends the search; what was done stays") {
  const TempDir dir;
  const SearchOptions options = journalled(dir.path());
  std::atomic<int> calls = 0;
  const auto failing = [&](const WorkflowJob& job) {
    if (++calls == 10) { throw IoError("no memory left"); }
    return Synthetic{}(job);
  };
  CHECK_THROWS_WITH_AS(run_search(options, failing), "no memory left", IoError);
  const std::size_t lines = num_lines(slurp(dir / "journal.jsonl"));
  CHECK(lines >= 1 + 8);
  CHECK(lines <= 1 + 10);
  run_search(options, Synthetic{});
  const TempDir whole;
  run_search(journalled(whole.path()), Synthetic{});
  CHECK(slurp(dir / "journal.jsonl") == slurp(whole / "journal.jsonl"));
}

}  // namespace journal_test
