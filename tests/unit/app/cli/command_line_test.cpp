#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>

#include "app/cli/verbs.h"
#include "penstock/app/catalog/catalog.h"
#include "penstock/app/cli/cli.h"
#include "penstock/core/base/json_value.h"
#include "penstock/core/train/config.h"

using namespace penstock;

namespace {

namespace fs = std::filesystem;

struct Scratch {
  fs::path path = fs::temp_directory_path() / ("penstock-cli-" + std::to_string(::getpid()));
  Scratch() {
    fs::remove_all(path);
    fs::create_directories(path);
  }
  ~Scratch() { fs::remove_all(path); }
  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(path / name) << text;
    return (path / name).string();
  }
};

/// A variable of the surroundings, as long as this lives.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) { old_ = old; }
    ::setenv(name, value.c_str(), 1);
  }
  ~Variable() {
    if (old_) {
      ::setenv(name_, old_->c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};

/// What goes to a file descriptor while this lives.
class Captured {
 public:
  explicit Captured(int descriptor) : descriptor_(descriptor), kept_(::dup(descriptor)) {
    flush();
    ::dup2(::fileno(file_), descriptor_);
  }
  ~Captured() {
    end();
    std::fclose(file_);
  }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;

  std::string text() {
    end();
    std::fseek(file_, 0, SEEK_END);
    std::string all(static_cast<std::size_t>(std::ftell(file_)), '\0');
    std::rewind(file_);
    const std::size_t read = std::fread(all.data(), 1, all.size(), file_);
    all.resize(read);
    return all;
  }

 private:
  static void flush() {
    std::cout.flush();
    std::cerr.flush();
    std::fflush(nullptr);
  }
  void end() {
    if (kept_ < 0) { return; }
    flush();
    ::dup2(kept_, descriptor_);
    ::close(kept_);
    kept_ = -1;
  }

  int descriptor_;
  int kept_;
  std::FILE* file_ = std::tmpfile();
};

struct Told {
  int code = 0;
  std::string out;
  std::string err;

  [[nodiscard]] bool says(const std::string& word) const {
    return (out + err).find(word) != std::string::npos;
  }
};

const Catalog& whole_catalog() {
  static const Catalog kCatalog = default_catalog();
  return kCatalog;
}

Told penstock_told(std::vector<std::string> words, const Catalog& catalog = whole_catalog()) {
  std::vector<const char*> arguments = {"penstock"};
  for (const std::string& word : words) { arguments.push_back(word.c_str()); }
  Captured out(STDOUT_FILENO);
  Captured err(STDERR_FILENO);
  Told told;
  told.code = run_cli(static_cast<int>(arguments.size()), arguments.data(), catalog);
  told.err = err.text();
  told.out = out.text();
  return told;
}

void refuses(const std::vector<std::string>& words, int code,
             const std::vector<std::string>& names) {
  std::string line;
  for (const std::string& word : words) { line += word + " "; }
  CAPTURE(line);
  const Told told = penstock_told(words);
  CAPTURE(told.err);
  CHECK(told.code == code);
  CHECK(told.out.empty());  // what is scripted on stdout holds results only
  for (const std::string& name : names) {
    CAPTURE(name);
    CHECK(told.says(name));
  }
}

constexpr int kUsage = 2;
constexpr int kFailed = 1;
constexpr int kBadData = 65;
constexpr int kBadConfig = 78;

}  // namespace

TEST_CASE("a verb that is not one is refused with those there are, at every level") {
  refuses({}, kUsage, {"required", "--help"});
  refuses({"trian"}, kUsage, {"'trian'", "did you mean 'train'"});
  refuses({"xyzzy"}, kUsage, {"'xyzzy' is not one of train, resume, eval"});
  refuses({""}, kUsage, {"'' is not one of train"});
  refuses({"bench"}, kUsage, {"required"});
  refuses({"bench", "scael"}, kUsage, {"did you mean 'scale'"});
  refuses({"bench", "train"}, kUsage, {"not one of env, ppo, scale, compare"});
  refuses({"booking", "ofer"}, kUsage, {"did you mean 'offer'"});
  refuses({"dvrptw", "ofer"}, kUsage, {"did you mean 'offer'"});  // the group's former name
  refuses({"cage2"}, kUsage, {"required"});
}

TEST_CASE("an option that a verb does not have is refused by every verb") {
  const std::vector<std::vector<std::string>> verbs = {
      {"resume", "d"},  {"eval", "d"},    {"export", "d"},   {"replay", "f"},
      {"envs"},         {"config"},       {"doctor"},        {"fleet", "f"},
      {"bench", "env"}, {"bench", "ppo"}, {"bench", "scale"}};
  for (std::vector<std::string> words : verbs) {
    words.emplace_back("--frobnicate");
    refuses(words, kUsage, {"--frobnicate"});
  }
}

TEST_CASE("what is missing is named") {
  refuses({"resume"}, kUsage, {"run_dir"});
  refuses({"eval"}, kUsage, {"run_dir"});
  refuses({"export"}, kUsage, {"run_dir"});
  refuses({"replay"}, kUsage, {"file"});
  refuses({"fleet"}, kUsage, {"file"});
  refuses({"train", "--seed"}, kUsage, {"--seed"});
  refuses({"config", "--set"}, kUsage, {"--set"});
}

TEST_CASE("numbers out of their range are refused with it") {
  refuses({"eval", "d", "--episodes", "0"}, kUsage, {"--episodes", "1 to 1000000"});
  refuses({"eval", "d", "--episodes", "2000000"}, kUsage, {"--episodes"});
  refuses({"eval", "d", "--episodes", "1.5"}, kUsage, {"--episodes"});
  refuses({"envs", "--check", "bandit", "--steps", "0"}, kUsage, {"--steps"});
  refuses({"bench", "env", "--rounds", "0"}, kUsage, {"--rounds", "1 to 1000"});
  refuses({"bench", "ppo", "--round-seconds", "0"}, kUsage, {"--round-seconds"});
  refuses({"bench", "env", "--duration", "soon"}, kUsage, {"--duration", "soon"});
  refuses({"bench", "scale", "--sweep-envs", "64,0"}, kUsage, {"--sweep-envs", "1 to 65536"});
  refuses({"bench", "scale", "--sweep-threads", "1,many"}, kUsage, {"--sweep-threads"});
}

TEST_CASE("two sources of the same thing are refused together") {
  refuses({"config", "--config", "a.toml", "--recipe", "cartpole"}, kUsage,
          {"--config", "--recipe"});
  refuses({"config", "--env", "cartpole", "--env", "acrobot"}, kUsage, {"--env"});
}

TEST_CASE("places that hold no run are bad data, for every verb that reads one") {
  const Scratch scratch;
  const std::string nowhere = (scratch.path / "none").string();
  for (const char* verb : {"resume", "eval", "export"}) {
    refuses({verb, nowhere}, kBadData, {nowhere, "not a run directory"});
    refuses({verb, scratch.path.string()}, kBadData, {"not a run directory"});
  }
  CHECK(fs::is_empty(scratch.path));  // asking leaves nothing behind
}

TEST_CASE("a replay that is none, or not whole, is refused before an env is made") {
  const Scratch scratch;
  refuses({"replay", (scratch.path / "none.json").string()}, kFailed, {"none.json", "read"});
  for (const char* text : {"", "[[[", "7", "[]", "{}", R"({"penstock_replay": 2})"}) {
    CAPTURE(text);
    refuses({"replay", scratch.file("other.json", text)}, kBadData, {"other.json", "not a replay"});
  }
  refuses({"replay", scratch.file("long.json", R"({"penstock_replay": 1, "complete": false})")},
          kBadData, {"long.json", "too long"});
  for (const char* text :
       {R"({"penstock_replay": "1"})", R"({"penstock_replay": [1], "complete": true})"}) {
    CAPTURE(text);
    refuses({"replay", scratch.file("typed.json", text)}, kBadData, {"typed.json", "not a replay"});
  }
  for (const char* rest :
       {R"("env": 7, "kwargs": {}, "seed": 1, "actions": [])",
        R"("env": "cartpole", "kwargs": {}, "seed": -1, "actions": [])",
        R"("env": "cartpole", "kwargs": 3, "seed": 1, "actions": [])",
        R"("env": "cartpole", "kwargs": {}, "seed": 1, "actions": {})", R"("env": "cartpole")"}) {
    CAPTURE(rest);
    const std::string text =
        std::string(R"({"penstock_replay": 1, "complete": true, )") + rest + "}";
    refuses({"replay", scratch.file("damaged.json", text)}, kBadData, {"damaged.json", "damaged"});
  }
}

TEST_CASE("names of the catalog are refused with what there is and the nearest") {
  refuses({"config", "--env", "cartpol"}, kBadConfig,
          {"env.id = cartpol", "did you mean 'cartpole'"});
  refuses({"config", "--set", "net.kind=transfomer"}, kBadConfig,
          {"net.kind = transfomer", "mlp, transformer", "'transformer'"});
  refuses({"config", "--set", "algo=pop"}, kBadConfig, {"algo = pop", "ppo, a2c", "'ppo'"});
  refuses({"envs", "--check", "pendelum"}, kBadConfig, {"'pendulum'"});
  refuses({"config", "--set", "algo=a2c", "--set", "ppo.clip=0.1"}, kBadConfig, {"ppo.clip"});
}

TEST_CASE("every verb explains itself on stdout, with each of its options once") {
  const std::vector<std::vector<std::string>> verbs = {
      {"train"},  {"resume"}, {"eval"},  {"export"},       {"replay"},       {"envs"},
      {"config"}, {"doctor"}, {"fleet"}, {"bench", "env"}, {"bench", "ppo"}, {"bench", "scale"}};
  for (std::vector<std::string> words : verbs) {
    CAPTURE(words.back());
    words.emplace_back("--help");
    const Told told = penstock_told(words);
    CHECK(told.code == 0);
    CHECK(told.err.empty());
    CHECK(told.out.find("--help") != std::string::npos);
    std::istringstream lines(told.out);
    std::vector<std::string> options;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("  --")) { options.push_back(line.substr(2, line.find(' ', 2) - 2)); }
    }
    for (std::size_t i = 0; i < options.size(); ++i) {
      for (std::size_t k = 0; k < i; ++k) { CHECK(options[i] != options[k]); }
    }
  }
  const Told all = penstock_told({"--help"});
  for (const char* verb : {"train", "resume", "eval", "export", "replay", "envs", "config",
                           "doctor", "bench", "cage2", "booking"}) {
    CAPTURE(verb);
    CHECK(all.out.find(std::string("\n  ") + verb) != std::string::npos);
  }
}

TEST_CASE("flags beat --set, which beats the environment, which beats the file") {
  const Scratch scratch;
  const std::string file =
      scratch.file("my.toml", "seed = 1\n[ppo]\nclip = 0.11\nepochs = 0\n[env]\nnum_envs = 3\n");
  // A wrong key of the file is found though flags would beat it.
  refuses({"config", "--config", file}, kBadConfig, {"ppo.epochs", "my.toml:4"});
  const std::string good =
      scratch.file("good.toml", "seed = 1\n[ppo]\nclip = 0.11\n[env]\nnum_envs = 3\n");
  const Variable seed("PENSTOCK_SEED", "2");
  const Variable clip("PENSTOCK_PPO__CLIP", "0.22");
  const Variable envs("PENSTOCK_ENV__NUM_ENVS", "5");
  const Told told = penstock_told({"config", "--config", good, "--set", "ppo.clip=0.33", "--set",
                                   "env.num_envs=6", "--num-envs", "7"});
  REQUIRE(told.code == 0);
  CHECK(told.says("seed = 2  # PENSTOCK_SEED\n"));
  CHECK(told.says("clip = 0.33  # --set\n"));
  CHECK(told.says("num_envs = 7  # --num-envs\n"));
  CHECK(told.says("gamma = 0.99  # default\n"));
}

TEST_CASE("variables with our prefix that are not keys are refused, but for our own") {
  const Variable recipes("PENSTOCK_RECIPES", "/nowhere");
  const Variable test("PENSTOCK_TEST_ANYTHING", "1");
  CHECK(penstock_told({"config"}).code == 0);
  const Variable wrong("PENSTOCK_SEDE", "1");
  refuses({"config"}, kBadConfig, {"'sede'", "PENSTOCK_SEDE", "did you mean 'seed'"});
}

TEST_CASE("recipes are the TOML files of their folder, by name and nothing else") {
  const Scratch scratch;
  scratch.file("zeta.toml", "seed = 26\n");
  scratch.file("alpha.toml", "seed = 1\n");
  scratch.file("README.md", "");
  const Variable recipes("PENSTOCK_RECIPES", scratch.path.string());
  CHECK(penstock_told({"config", "--recipes"}).out == "alpha\nzeta\n");
  CHECK(penstock_told({"config", "--recipe", "zeta"}).says("seed = 26  # zeta.toml:1"));
  refuses({"config", "--recipe", "alpa"}, kUsage, {"alpha, zeta", "did you mean 'alpha'"});
  refuses({"config", "--recipe", "../alpha"}, kUsage, {"not one of"});
  refuses({"config", "--recipe", "README"}, kUsage, {"not one of"});
}

TEST_CASE("a program's own catalog is all that its command line knows") {
  Catalog own = default_catalog();
  own.envs.resize(1);
  own.domains.clear();
  own.other_env = nullptr;
  const Told listed = penstock_told({"envs", "--json"}, own);
  CHECK(parse_json(listed.out).size() == 1);
  CHECK(penstock_told({"cage2"}, own).code == kUsage);
  CHECK(!penstock_told({"--help"}, own).says("booking"));
  CHECK(penstock_told({"config", "--env", "CartPole-v1"}, own).code == kBadConfig);
}

TEST_CASE("a dry run tells what the run would be, and what looks wrong, on one line") {
  const Told told = penstock_told({"train", "--dry-run", "--json", "--env", "pendulum",
                                   "--num-envs", "10", "--set", "rollout.steps=20",
                                   "--total-timesteps", "450", "--threads", "9", "--seed", "77"});
  REQUIRE(told.code == 0);
  const Json plan = parse_json(told.out);
  CHECK(plan["samples_per_update"] == 200);
  CHECK(plan["updates"] == 3);  // 450 steps begin a third update
  CHECK(plan["run_dir"] == "runs/pendulum-77");
  const Json& memory = plan["memory"];
  CHECK(plan["memory_bytes"] ==
        memory["rollout"].get<std::int64_t>() + memory["weights"].get<std::int64_t>() +
            memory["optimiser"].get<std::int64_t>() + memory["batches"].get<std::int64_t>());
  const std::string warnings = to_text(plan["warnings"]);
  CHECK(warnings.find("use --total-timesteps 4000") != std::string::npos);  // 20 updates
  CHECK(warnings.find("threads = 9: 7 of them will idle") != std::string::npos);
  CHECK(!fs::exists("runs/pendulum-77"));
}

TEST_CASE("an env's keys are options of train: values, choices, truths, and their misspellings") {
  const auto line_of = [](std::vector<std::string> words) {
    words.insert(words.begin(), {"train", "--dry-run", "--env", "pendulum"});
    return penstock_told(words);
  };
  CHECK(line_of({"--max-steps", "31"}).says("max_steps = 31  # --max-steps"));
  CHECK(line_of({"--max-steps=32"}).says("max_steps = 32  # --max-steps"));
  CHECK(line_of({"--max-steps", "3", "--max-steps", "4"}).says("max_steps = 4  #"));
  const Told missing = line_of({"--max-steps"});
  CHECK(missing.code == kUsage);
  CHECK(missing.says("--max-steps: expected a value [env.max_steps]"));
  const Told wrong = line_of({"--max-step", "3"});
  CHECK(wrong.code == kUsage);
  CHECK(wrong.says("did you mean '--max-steps'"));
  CHECK(line_of({"--max-steps", "few"}).code == kBadConfig);
  CHECK(line_of({"stray"}).code == kUsage);
  // The next option is not a value, nor is a choice that the flag itself names.
  const Told next = penstock_told(
      {"train", "--dry-run", "--env", "masked", "--num-actions", "--num-features", "40"});
  CHECK(next.code == kUsage);
  CHECK(next.says("--num-actions: expected a value [env.num_actions]"));
  CHECK(penstock_told({"train", "--dry-run", "--env", "dvrptw", "--async-embedding"})
            .says("embedding = \"async\"  # --async-embedding"));
  // An option of another env is none of this one.
  CHECK(line_of({"--num-actions", "3"}).code == kUsage);
}

TEST_CASE("a wish for a learning rate or for workers goes to the key that has it") {
  CHECK(penstock_told({"config", "--learning-rate", "0.5"}).says("learning_rate = 0.5  # --lear"));
  const Told a2c = penstock_told({"config", "--learning-rate", "0.25", "--set", "algo=a2c"});
  CHECK(a2c.says("[a2c]"));
  CHECK(a2c.says("learning_rate = 0.25  # --lear"));
  CHECK(penstock_told({"config", "--num-workers", "3"}).says("threads = 3  # --num-workers"));
}

TEST_CASE("the table of keys has one row per key of the resolved config") {
  const Told table = penstock_told({"config", "--markdown"});
  const Told config = penstock_told({"config"});
  std::istringstream lines(config.out);
  std::size_t keys = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("  # ") != std::string::npos) { ++keys; }
  }
  std::size_t rows = 0;
  for (auto at = table.out.find("\n| `"); at != std::string::npos;
       at = table.out.find("\n| `", at + 1)) {
    ++rows;
  }
  CHECK(rows == keys);
  CHECK(table.says("| `ppo.clip` | `0.2` | "));
}
