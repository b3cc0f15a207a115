#include "penstock/core/base/config.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "penstock/core/base/errors.h"

using penstock::Choices;
using penstock::ConfigError;
using penstock::Field;
using penstock::fields_of;
using penstock::Range;
using penstock::Settings;

namespace {

struct Adam {
  double beta = 0.9;
  template <class Visitor>
  void fields(Visitor& visit) {
    visit("beta", beta, "decay of the mean", Range{0, 1});
  }
};

struct Ppo {
  double clip = 0.2;
  Adam adam;
  std::int64_t epochs = 4;  // after the nested config, on purpose
  template <class Visitor>
  void fields(Visitor& visit) {
    visit("clip", clip, "how far the ratio may move", Range{0, 1});
    visit("adam", adam, "the optimiser");
    visit("epochs", epochs, "passes over a rollout", Range{.min = 1});
  }
};

struct Run {
  Ppo ppo;
  std::uint64_t seed = 1;
  std::int64_t total_timesteps = 1000;
  double scale = 1;
  bool resume = false;
  std::string name = "run";
  std::string activation = "tanh";
  std::vector<std::int64_t> hidden = {64, 64};
  template <class Visitor>
  void fields(Visitor& visit) {
    visit("ppo", ppo, "the update");
    visit("seed", seed, "of everything");
    visit("total_timesteps", total_timesteps, "env steps", Range{.min = 1});
    visit("scale", scale, "of rewards");
    visit("resume", resume, "go on from the last checkpoint");
    visit("name", name, "of the run");
    visit("activation", activation, "between layers", Choices{"tanh", "relu"});
    visit("hidden", hidden, "layer widths", Range{1, 4096});
  }
};

Run with(const Settings& settings) {
  Run run;
  auto fields = fields_of(run);
  penstock::apply(fields, settings);
  return run;
}

Run from_toml(std::string_view text) {
  Settings settings;
  settings.add_toml(text, "run.toml");
  return with(settings);
}

Run from_assignment(const std::string& assignment) {
  Settings settings;
  settings.add_assignment(assignment, "--set");
  return with(settings);
}

template <class Call>
std::string error_of(Call&& call) {
  try {
    call();
  } catch (const ConfigError& error) { return error.what(); }
  return "no error";
}

std::string toml_error(std::string_view text) {
  return error_of([&] { from_toml(text); });
}

std::string assignment_error(const std::string& assignment) {
  return error_of([&] { from_assignment(assignment); });
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const Field& field(const std::vector<Field>& fields, const std::string& path) {
  for (const Field& f : fields) {
    if (f.path == path) { return f; }
  }
  throw std::logic_error("no field " + path);
}

}  // namespace

TEST_CASE("TOML sets every type, nested keys and lists") {
  const Run run = from_toml(R"(
seed = 7
total_timesteps = 1_000_000
scale = 2
resume = true
name = "a \"b\""
activation = "relu"
hidden = [128, 32, 8]
[ppo]
clip = 0.1
epochs = 1e1
adam.beta = 0.5
)");
  CHECK(run.seed == 7);
  CHECK(run.total_timesteps == 1000000);
  CHECK(run.scale == 2.0);
  CHECK(run.resume);
  CHECK(run.name == "a \"b\"");
  CHECK(run.activation == "relu");
  CHECK(run.hidden == std::vector<std::int64_t>{128, 32, 8});
  CHECK(run.ppo.clip == 0.1);
  CHECK(run.ppo.epochs == 10);
  CHECK(run.ppo.adam.beta == 0.5);
}

TEST_CASE("the command line writes the same values as text") {
  CHECK(from_assignment("total_timesteps=1e6").total_timesteps == 1000000);
  CHECK(from_assignment("total_timesteps=1_000_000").total_timesteps == 1000000);
  CHECK(from_assignment("ppo.clip = 0.3").ppo.clip == 0.3);
  CHECK(from_assignment("resume=1").resume);
  CHECK(from_assignment("hidden=[32, 16]").hidden == std::vector<std::int64_t>{32, 16});
  CHECK(from_assignment("hidden=32,16").hidden == std::vector<std::int64_t>{32, 16});
  CHECK(from_assignment("hidden=[]").hidden.empty());
  CHECK(from_assignment("name=a=b").name == "a=b");
  CHECK_THROWS_AS(from_assignment("seed"), penstock::UsageError);
  CHECK_THROWS_AS(from_assignment("=3"), penstock::UsageError);
}

TEST_CASE("a value of the wrong type names key, value, origin and what is wanted") {
  CHECK(assignment_error("ppo.clip=fast") == "ppo.clip = fast (--set): expected a number");
  CHECK(assignment_error("ppo.clip=nan") == "ppo.clip = nan (--set): expected a number");
  CHECK(assignment_error("ppo.clip=") == "ppo.clip =  (--set): expected a number");
  CHECK(assignment_error("seed=1.5") == "seed = 1.5 (--set): expected a whole number");
  CHECK(assignment_error("seed=99999999999999999999") != "no error");
  CHECK(assignment_error("seed=inf") != "no error");
  CHECK(assignment_error("resume=maybe") == "resume = maybe (--set): expected true or false");
  CHECK(assignment_error("hidden=[64, x]") != "no error");
  CHECK(assignment_error("hidden=[64,,64]") != "no error");
  CHECK(toml_error("scale = true") != "no error");
  CHECK(toml_error("name = 2026-01-01") != "no error");
}

TEST_CASE("a negative number for an unsigned key says what is wrong with it") {
  CHECK(assignment_error("seed=-1") == "seed = -1 (--set): expected a whole number of at least 0");
}

TEST_CASE("a seed that TOML could not hold is refused, so that every dump can be read back") {
  CHECK(from_assignment("seed=9223372036854775807").seed == 9223372036854775807U);
  CHECK(contains(assignment_error("seed=9223372036854775808"), "at most 9223372036854775807"));
}

TEST_CASE("a quoted number is refused, alone and in a list") {
  CHECK(toml_error("seed = \"7\"") == "seed = 7 (run.toml:1): expected a whole number");
  CHECK(toml_error("scale = \"7\"") != "no error");
  CHECK(toml_error("resume = \"true\"") != "no error");
  CHECK(toml_error("hidden = \"[64]\"") != "no error");
  CHECK(toml_error("hidden = [64, \"64\"]") == "run.toml:1: hidden: a list holds numbers only");
  CHECK(toml_error("hidden = [[64]]") != "no error");
}

TEST_CASE("ranges hold their ends and name them") {
  CHECK(from_assignment("ppo.clip=0").ppo.clip == 0);
  CHECK(from_assignment("ppo.clip=1").ppo.clip == 1);
  CHECK(assignment_error("ppo.clip=1.5") == "ppo.clip = 1.5 (--set): expected 0 to 1");
  CHECK(assignment_error("total_timesteps=0") ==
        "total_timesteps = 0 (--set): expected at least 1");
  CHECK(contains(assignment_error("hidden=[64, 5000]"), "expected 1 to 4096"));
}

TEST_CASE("a word that is none of the choices brings them all and the nearest") {
  CHECK(assignment_error("activation=rellu") ==
        "activation = rellu (--set): expected one of tanh, relu, did you mean 'relu'?");
}

TEST_CASE("an unknown key is an error with the nearest spelling") {
  CHECK(toml_error("[ppo]\nclpi = 0.1") ==
        "unknown key 'ppo.clpi' (run.toml:2), did you mean 'ppo.clip'?");
  CHECK(assignment_error("zzz=1") == "unknown key 'zzz' (--set)");
  CHECK(contains(toml_error("ppo = 3"), "unknown key 'ppo'"));
}

TEST_CASE("what is not TOML is an error with file and line") {
  CHECK(toml_error("seed = 1\nname = \"open\n").starts_with("run.toml:2: "));
  CHECK(toml_error("seed = 1\nseed = 2\n").starts_with("run.toml:2: "));
  CHECK(toml_error("[[[").starts_with("run.toml:1: "));
  CHECK(toml_error("ü = 1").starts_with("run.toml:1: "));
}

TEST_CASE("flags beat the environment, which beats the file, and origins tell") {
  Settings settings;
  settings.add_toml("seed = 1\nscale = 1.5\n[ppo]\nclip = 0.1\nepochs = 2\n", "run.toml");
  const std::array environment = {"HOME=/root", "PENSTOCK_PPO__CLIP=0.3", "PENSTOCK_SEED=2",
                                  "PENSTOCK_TOTAL_TIMESTEPS=5"};
  settings.add_environment(environment);
  settings.add("seed", "3", "--seed");

  Run run;
  auto fields = fields_of(run);
  penstock::apply(fields, settings);
  CHECK(run.seed == 3);
  CHECK(run.ppo.clip == 0.3);
  CHECK(run.scale == 1.5);
  CHECK(run.total_timesteps == 5);
  CHECK(field(fields, "seed").origin == "--seed");
  CHECK(field(fields, "ppo.clip").origin == "PENSTOCK_PPO__CLIP");
  CHECK(field(fields, "ppo.epochs").origin == "run.toml:5");
  CHECK(field(fields, "name").origin == "default");
  REQUIRE(settings.find("seed") != nullptr);
  CHECK(settings.find("seed")->text == "3");
  CHECK(settings.find("name") == nullptr);
}

TEST_CASE("a variable that matches no key is an error like any other") {
  Settings settings;
  const std::array environment = {"PENSTOCK_SEEED=2"};
  settings.add_environment(environment);
  CHECK(error_of([&] { with(settings); }) ==
        "unknown key 'seeed' (PENSTOCK_SEEED), did you mean 'seed'?");
}

TEST_CASE("fields of a config can stand under a prefix") {
  Adam adam;
  auto fields = fields_of(adam, "env.");
  REQUIRE(fields.size() == 1);
  CHECK(fields[0].path == "env.beta");
}

TEST_CASE("config files are read, and what cannot be read is an IoError") {
  const auto folder = std::filesystem::temp_directory_path() / "penstock_config_test";
  std::filesystem::create_directories(folder);
  const auto file = folder / "short.toml";
  std::ofstream(file) << "seed = 9\n";
  Settings settings;
  settings.add_toml_file(file.string());
  CHECK(with(settings).seed == 9);
  CHECK(settings.find("seed")->origin == "short.toml:1");
  CHECK_THROWS_AS(settings.add_toml_file((folder / "none.toml").string()), penstock::IoError);
  CHECK_THROWS_AS(settings.add_toml_file(folder.string()), penstock::IoError);
  std::filesystem::remove_all(folder);
}

TEST_CASE("keys have a bounded number of parts, values any number of dots") {
  const auto read = [](const std::string& text) {
    Settings settings;
    settings.add_toml(text, "run.toml");
    return settings.all().size();
  };
  const auto dotted = [](int parts) {
    std::string key = "a";
    for (int i = 1; i < parts; ++i) { key += ".a"; }
    return key + " = 1\n";
  };
  CHECK(read(dotted(17)) == 1);
  CHECK_THROWS_AS(read(dotted(18)), ConfigError);
  std::string numbers = "1.5";
  for (int i = 0; i < 100; ++i) { numbers += ", 1.5"; }
  CHECK(read("a = [" + numbers + "]\n") == 1);
  const std::string dots(100, '.');
  CHECK(read("a = \"" + dots + "\"\nb = '''" + dots + "''''\nc = 1 # " + dots) == 3);
  CHECK(read("a = \"\\\"" + dots + "\"\n") == 1);
}

TEST_CASE("a value has a bounded length, so that the resolved config can be read") {
  Settings settings;
  settings.add("dir", std::string(32'768, 'a'), "--set");
  const std::string longer(32'769, 'a');
  CHECK_THROWS_WITH_AS(settings.add("dir", longer, "--set"), doctest::Contains("dir (--set)"),
                       ConfigError);
  CHECK_THROWS_WITH_AS(settings.add_toml("dir = '" + longer + "'", "run.toml"),
                       doctest::Contains("32769 bytes, at most 32768"), ConfigError);
}

TEST_CASE("values are nested to a bounded depth, also by keys with dots in inline tables") {
  const auto read = [](const std::string& open, const std::string& close, int levels) {
    std::string text = "a = ";
    for (int i = 0; i < levels; ++i) { text += open; }
    text += "1";
    for (int i = 0; i < levels; ++i) { text += close; }
    Settings settings;
    settings.add_toml(text, "run.toml");
    return settings.all().size();
  };
  CHECK(read("{b.c = ", "}", 16) == 1);
  CHECK_THROWS_WITH_AS(read("{b.c = ", "}", 17),
                       doctest::Contains("run.toml:1: values nested more than 16 deep"),
                       ConfigError);
  CHECK_THROWS_WITH_AS(read("[", "]", 17), doctest::Contains("nested"), ConfigError);
}

TEST_CASE("to_toml writes each section once, bare keys first, with origins") {
  Run run;
  const std::string text = to_toml(fields_of(run));
  CHECK(text.starts_with("seed = 1  # default\n"));
  CHECK(contains(text, "scale = 1.0  # default\n"));
  CHECK(contains(text, "hidden = [64, 64]  # default\n"));
  CHECK(contains(text, "\n[ppo]\nclip = 0.2  # default\nepochs = 4  # default\n"));
  CHECK(contains(text, "\n[ppo.adam]\nbeta = 0.9  # default\n"));
  CHECK(from_toml(text).ppo.epochs == 4);
}

TEST_CASE("to_markdown has a row for every key") {
  Run run;
  const auto fields = fields_of(run);
  const std::string table = to_markdown(fields);
  CHECK(std::count(table.begin(), table.end(), '\n') == static_cast<long>(fields.size()) + 2);
  CHECK(contains(table, "| `ppo.clip` | `0.2` | 0 to 1 | how far the ratio may move |\n"));
}

TEST_CASE("a value that is not UTF-8 is refused where it enters") {
  CHECK(contains(assignment_error("name=0x\xC1"
                                  "f"),
                 "name (--set): the value is not UTF-8"));
  CHECK(from_assignment("name=caf\xC3\xA9").name == "caf\xC3\xA9");
}
