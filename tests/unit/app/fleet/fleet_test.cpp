#include "penstock/app/fleet/fleet.h"

#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <set>

#include "penstock/core/base/errors.h"
#include "penstock/core/store/temporary_folder.h"

namespace penstock::fleet {
namespace {

class File {
 public:
  explicit File(const std::string& text) { std::ofstream(path()) << text; }
  [[nodiscard]] std::string path() const { return folder_ / "fleet.toml"; }

 private:
  TemporaryFolder folder_;
};

Fleet fleet_of(const std::string& text) {
  const File file(text);
  return Fleet(file.path(), [](const std::string& name) { return name; });
}

std::vector<std::string> labels_of(const Fleet& fleet) {
  std::vector<std::string> labels;
  for (const Cell& cell : fleet.cells()) { labels.push_back(label_of(cell)); }
  return labels;
}

Entry ended(std::size_t trial, Stage stage, double score) {
  return {.trial = trial, .stage = stage, .digest = "d", .steps = 10, .score = score};
}

TEST_CASE("a grid is every combination of its values, by every seed") {
  const Fleet fleet = fleet_of(R"toml(seeds = [3, 5]
[set]
total_timesteps = 1000
[grid]
ppo.clip = [0.1, 0.2]
net.activation = "tanh | relu"
net.hidden = "[64, 64] | [32]")toml");
  CHECK(fleet.num_trials() == 16);
  CHECK(labels_of(fleet)[0] == "net.activation=tanh net.hidden=[64, 64] ppo.clip=0.1");
  const auto labels = labels_of(fleet);
  CHECK(std::set<std::string>(labels.begin(), labels.end()).size() == 8);
  CHECK(fleet.seed_of(0) == 3);
  CHECK(fleet.seed_of(1) == 5);
  const Settings settings = fleet.settings_of(15);
  CHECK(settings.find("seed")->text == "5");
  CHECK(settings.find("net.hidden")->text == "[32]");
  CHECK(settings.find("ppo.clip")->text == "0.2");
  CHECK(settings.find("total_timesteps")->text == "1000");
  CHECK(settings.find("threads")->text == "1");
}

TEST_CASE("draws stay within their ends, differ, and are those of their seed") {
  const std::string text = R"toml(seeds = [1]
draws = 200
[random]
ppo.learning_rate = "log(1e-4, 1e-2)"
ppo.clip = "uniform(0.1, 0.3)"
env.num_envs = "whole(3, 5)"
net.activation = "tanh | relu")toml";
  const Fleet fleet = fleet_of(text);
  CHECK(labels_of(fleet) == labels_of(fleet_of(text)));
  CHECK(labels_of(fleet) != labels_of(fleet_of("draw_seed = 2\n" + text)));
  std::set<std::string> envs;
  std::set<std::string> rates;
  std::size_t low = 0;
  for (std::size_t trial = 0; trial < fleet.num_trials(); ++trial) {
    const Settings settings = fleet.settings_of(trial);
    const double rate = std::stod(settings.find("ppo.learning_rate")->text);
    const double clip = std::stod(settings.find("ppo.clip")->text);
    CHECK((rate >= 1e-4 && rate <= 1e-2));
    CHECK((clip >= 0.1 && clip <= 0.3));
    low += rate < 1e-3 ? 1 : 0;
    rates.insert(settings.find("ppo.learning_rate")->text);
    envs.insert(settings.find("env.num_envs")->text);
  }
  CHECK(rates.size() == 200);
  CHECK(envs == std::set<std::string>{"3", "4", "5"});
  CHECK((low > 70 && low < 130));  // half of the decades; 200 draws, 4 standard deviations are 28
}

TEST_CASE("mistakes in a fleet's file are told") {
  const auto refusal = [](const std::string& text, const char* why) {
    CAPTURE(text);
    CHECK_THROWS_WITH_AS(fleet_of(text), doctest::Contains(why), ConfigError);
  };
  refusal("seed = 1", "unknown key 'seed'");
  refusal("seeds = []", "at least one");
  refusal("seeds = [1, 1]", "each once");
  refusal("[set]\nseed = 4", "seeds = [1, 2, 3]");
  refusal("[grid]\nrun.dir = \"a | b\"", "each trial its own");
  refusal("[grid]\nppo.clip = \"0.1 | \"", "expected values");
  refusal("draws = 3", "[random]");
  refusal("[random]\nppo.clip = \"uniform(0, 1)\"", "draws = N");
  refusal("draws = 1\n[random]\nppo.clip = \"normal(0, 1)\"", "expected uniform");
  refusal("draws = 1\n[random]\nppo.clip = \"uniform(1, 0)\"", "LOW below HIGH");
  refusal("draws = 1\n[random]\nppo.clip = \"log(0, 1)\"", "above 0");
  refusal("draws = 1\n[random]\nppo.clip = \"log(x, 1)\"", "a number where 'x' stands");
  refusal("rungs = [200, 100]", "growing");
  refusal("recipe = \"a\"\nconfig = \"b\"", "one of them");
}

TEST_CASE("without rungs all trials go to the end; failed ones are left") {
  const Fleet fleet = fleet_of("seeds = [1, 2]\n[grid]\nppo.clip = [0.1, 0.2]");
  CHECK(next_work(fleet, {}).trials == std::vector<std::size_t>{0, 1, 2, 3});
  std::vector<Entry> entries = {ended(2, 0, 1), {.trial = 0, .stage = 0, .exit = 1}};
  CHECK(next_work(fleet, entries).trials == std::vector<std::size_t>{1, 3});
  entries.push_back(ended(1, 0, 1));
  entries.push_back(ended(3, 0, 1));
  CHECK(next_work(fleet, entries).trials.empty());
}

TEST_CASE("at a rung the better settings go on, whatever the order of the ledger") {
  const Fleet fleet =
      fleet_of("seeds = [1, 2]\nrungs = [100, 200]\n[grid]\nppo.clip = [0.1, 0.2, 0.3, 0.4]");
  // Means 1, 4, 3, and one seed's 9 with a failure.
  std::vector<Entry> entries = {ended(5, 0, 2), ended(4, 0, 4), ended(3, 0, 1), ended(2, 0, 7),
                                ended(1, 0, 2), ended(0, 0, 0), ended(6, 0, 9)};
  Work work = next_work(fleet, entries);
  CHECK(work.stage == 0);
  CHECK(work.trials == std::vector<std::size_t>{7});
  entries.push_back({.trial = 7, .stage = 0, .exit = 1});
  work = next_work(fleet, entries);
  CHECK(work.stage == 1);
  CHECK(work.cells == std::vector<std::size_t>{1, 3});
  CHECK(work.trials == std::vector<std::size_t>{2, 3, 6});
  for (const std::size_t trial : {2, 3, 6}) { entries.push_back(ended(trial, 1, 10. - trial)); }
  work = next_work(fleet, entries);
  CHECK(work.stage == 2);
  CHECK(work.trials == std::vector<std::size_t>{2, 3});
  entries.push_back(ended(2, 2, 5));
  entries.push_back(ended(3, 2, 6));
  CHECK(next_work(fleet, entries).trials.empty());
  std::swap(entries[0], entries[8]);
  CHECK(next_work(fleet, entries).trials.empty());
}

TEST_CASE("a run that ends before a rung counts with its end; without a score a setting is last") {
  const Fleet fleet = fleet_of("seeds = [1]\nrungs = [100]\n[grid]\nppo.clip = [0.1, 0.2]");
  const Work work = next_work(fleet, {ended(0, 0, std::nan("")), ended(1, 1, -5)});
  CHECK(work.cells == std::vector<std::size_t>{1});
  CHECK(work.trials.empty());
}

TEST_CASE("means, Student's intervals and medians, as SciPy has them") {
  const Fleet fleet = fleet_of("seeds = [1, 2, 3, 4]\n[grid]\nppo.clip = [0.1, 0.2, 0.3]");
  const std::vector<Row> rows = table(fleet, {ended(3, 0, 8),
                                              ended(1, 0, 2),
                                              ended(0, 0, 1),
                                              ended(2, 0, 4),
                                              ended(4, 0, 7),
                                              {.trial = 5, .stage = 0, .exit = 65}});
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].mean == 3.75);
  CHECK(rows[0].median == 3);
  // scipy.stats.t.interval(0.95, 3, loc=3.75, scale=scipy.stats.sem([1, 2, 4, 8]))
  CHECK(rows[0].low == doctest::Approx(-1.1759430).epsilon(1e-5));
  CHECK(rows[0].high == doctest::Approx(8.6759430).epsilon(1e-5));
  CHECK(rows[1].count == 1);
  CHECK(rows[1].failed == 1);
  CHECK(rows[1].median == 7);
  CHECK(std::isnan(rows[1].low));
  CHECK(rows[2].count == 0);
  CHECK(std::isnan(rows[2].mean));
}

TEST_CASE("the interval of many seeds") {
  std::string seeds = "seeds = [0";
  for (int seed = 1; seed <= 40; ++seed) { seeds += ", " + std::to_string(seed); }
  const Fleet fleet = fleet_of(seeds + "]");
  std::vector<Entry> entries;
  for (std::size_t trial = 0; trial <= 40; ++trial) { entries.push_back(ended(trial, 0, trial)); }
  const Row row = table(fleet, entries)[0];
  CHECK(row.cell == "-");
  // scipy.stats.t.interval(0.95, 40, loc=20, scale=scipy.stats.sem(range(41)))
  CHECK(row.low == doctest::Approx(16.218914).epsilon(1e-5));
  CHECK(row.high == doctest::Approx(23.781086).epsilon(1e-5));
}

TEST_CASE("the ledger keeps each stage of a trial once, and is of one fleet") {
  const TemporaryFolder here;
  const std::string path = here / "f";
  const Fleet fleet = fleet_of("seeds = [1, 2]");
  const Folder folder(path, fleet);
  folder.append(ended(1, 0, 2.5));
  folder.append(ended(1, 0, 9));
  folder.append({.trial = 0, .stage = 0, .exit = 65, .error = "bad"});
  folder.append_batch_job("17");
  REQUIRE(folder.entries().size() == 2);
  CHECK(folder.entries()[0].score == 2.5);
  CHECK(folder.entries()[1].error == "bad");
  CHECK(folder.batch_jobs() == std::vector<std::string>{"17"});
  folder.forget_failures();
  CHECK(folder.entries().size() == 1);
  folder.append(ended(0, 0, std::nan("")));
  CHECK(std::isnan(folder.entries()[1].score));
  CHECK_NOTHROW(Folder(path, fleet));
  CHECK_THROWS_WITH_AS(Folder(path, fleet_of("seeds = [1, 3]")), doctest::Contains("other seeds"),
                       ConfigError);
  std::ofstream(path + "/ledger.jsonl", std::ios::app) << "{\"trial\": -1}\n";
  CHECK_THROWS_WITH_AS((void)folder.entries(), doctest::Contains("line 7 is damaged"), DataError);
}

TEST_CASE("a Kubernetes Job has an index for each trial") {
  const TemporaryFolder here;
  const Fleet fleet =
      fleet_of("executor = \"kubernetes\"\nimage = \"a/b:1\"\nclaim = \"runs\"\njobs = 3");
  const std::string job = kubernetes_job(fleet, Folder(here / "My fleet", fleet));
  CHECK(job.find("completions: 5\n  parallelism: 3\n") != std::string::npos);
  CHECK(job.find("name: fleet-my-fleet\n") != std::string::npos);
  const Fleet bare = fleet_of("seeds = [1, 2]");
  CHECK_THROWS_AS(kubernetes_job(bare, Folder(here / "other", bare)), ConfigError);
}

}  // namespace
}  // namespace penstock::fleet
