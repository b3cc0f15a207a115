#include "penstock/core/base/options.h"

#include <doctest/doctest.h>

#include <iostream>
#include <sstream>

using namespace penstock;

namespace {

/// What parse() prints, kept from the test's own output.
class Quiet {
 public:
  Quiet() : out_(std::cout.rdbuf(text_.rdbuf())), err_(std::cerr.rdbuf(text_.rdbuf())) {}
  ~Quiet() {
    std::cout.rdbuf(out_);
    std::cerr.rdbuf(err_);
  }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;
  [[nodiscard]] std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
  std::streambuf* out_;
  std::streambuf* err_;
};

std::optional<Exit> parse(Options& options, std::vector<const char*> words,
                          std::string* told = nullptr) {
  words.insert(words.begin(), "program");
  const Quiet quiet;
  const auto result = options.parse(static_cast<int>(words.size()), words.data());
  if (told != nullptr) { *told = quiet.text(); }
  return result;
}

}  // namespace

TEST_CASE("options set their variables, by any of their spellings") {
  Options program("doc", "1.0");
  std::string place;
  int count = 1;
  std::int64_t large = 0;
  std::uint64_t seed = 0;
  double rate = 0;
  bool bare = true;
  std::vector<std::int64_t> sizes;
  std::vector<std::string> all;
  program.add("place", place, "by position");
  program.add("--count,--n", count, "");
  program.add("--large", large, "");
  program.add("--seed", seed, "");
  program.add("--rate", rate, "");
  program.add_flag("--bare,!--no-bare", bare, "");
  program.add_list("--sizes", sizes, "");
  program.add_repeated("--set", all, "");
  CHECK(!parse(program, {"here", "--n", "7", "--large", "-9007199254740993", "--seed",
                         "18446744073709551615", "--rate=2.5e-3", "--no-bare", "--sizes", "1,20,3",
                         "--set", "a=1", "--set", "b=2"}));
  CHECK(place == "here");
  CHECK(count == 7);
  CHECK(large == -9007199254740993);
  CHECK(seed == 18446744073709551615U);
  CHECK(rate == 2.5e-3);
  CHECK(!bare);
  CHECK(sizes == std::vector<std::int64_t>{1, 20, 3});
  CHECK(all == std::vector<std::string>{"a=1", "b=2"});
}

TEST_CASE("a wrong command line is a usage error that names the option and sets no verb going") {
  const std::vector<std::vector<const char*>> wrong = {{"--count", "many"},
                                                       {"--count", "1.5"},
                                                       {"--count", "9"},
                                                       {"--count", "0"},
                                                       {"--count", "99999999999999"},
                                                       {"--count"},
                                                       {"--colour", "mauve"},
                                                       {"--rate", "0"},
                                                       {"--rate", "-1"},
                                                       {"--seed", "-1"},
                                                       {"--seed", "18446744073709551616"},
                                                       {"--seed", "7x"},
                                                       {"--unknown"},
                                                       {"stray"}};
  for (const std::vector<const char*>& words : wrong) {
    CAPTURE(words[0]);
    Options program("doc", "1.0");
    int count = 1;
    double rate = 1;
    std::uint64_t seed = 1;
    std::string colour = "red";
    program.add("--seed", seed, "");
    program.add("--count", count, "").within(1, 8);
    program.add("--rate", rate, "").positive();
    program.add("--colour", colour, "").one_of({"red", "blue"});
    std::string told;
    CHECK(parse(program, words, &told) == Exit::usage);
    CHECK(told.find(words[0]) != std::string::npos);
    CHECK(colour == "red");
  }
}

TEST_CASE("ends of a range are inside it") {
  for (const char* given : {"1", "8"}) {
    Options program("doc", "1.0");
    int count = 0;
    program.add("--count", count, "").within(1, 8);
    CHECK(!parse(program, {"--count", given}));
    CHECK(std::to_string(count) == given);
  }
}

TEST_CASE("what is not a number lies within no range") {
  Options program("doc", "1.0");
  double rate = 0.5;
  double seconds = 1;
  program.add("--rate", rate, "").within(0.0, 1.0);
  program.add("--seconds", seconds, "").positive();
  for (const char* option : {"--rate", "--seconds"}) {
    CHECK(parse(program, {option, "0.25"}) == std::nullopt);
    CHECK(parse(program, {option, "nan"}).has_value());
    CHECK(parse(program, {option, "-NaN"}).has_value());
  }
}

TEST_CASE("what is required must be there, what excludes must not") {
  Options program("doc", "1.0");
  std::string file;
  std::string recipe;
  std::string name;
  const Option first = program.add("--file", file, "");
  program.add("--recipe", recipe, "").excludes(first);
  program.add("name", name, "").required();
  CHECK(parse(program, {"--file", "a"}) == Exit::usage);
  CHECK(parse(program, {"x", "--file", "a", "--recipe", "b"}) == Exit::usage);
  CHECK(!parse(program, {"x", "--recipe", "b"}));
}

TEST_CASE("a line that ends before its command is told which there are") {
  Options program("doc", "1.0");
  Options& group = program.add_command("group", "of two");
  program.add_command("alone", "none of the group's");
  program.require_command();
  group.require_command();
  std::string file;
  group.add_command("first", "one").add("--file", file, "").required();
  group.add_command("second", "two");
  std::string told;
  CHECK(parse(program, {"group"}, &told) == Exit::usage);
  CHECK(told.find("A subcommand is required: first, second\n") != std::string::npos);
  CHECK(parse(program, {}, &told) == Exit::usage);
  CHECK(told.find("A subcommand is required: group, alone\n") != std::string::npos);
  CHECK(parse(program, {"group", "first"}, &told) == Exit::usage);
  CHECK(told.find("--file is required") != std::string::npos);
}

TEST_CASE("help and version are answers, not errors, and show what there is") {
  Options program("what it is for", "program 9.8.7");
  int count = 3;
  int secret = 0;
  program.add("--count", count, "how many").show_default();
  program.add("--secret", secret, "not for you").hide();
  program.set_footer("the last words");
  std::string told;
  CHECK(parse(program, {"--version"}, &told) == Exit::ok);
  CHECK(told == "program 9.8.7\n");
  CHECK(parse(program, {"--help"}, &told) == Exit::ok);
  for (const char* words : {"what it is for", "--count", "how many", "3", "the last words"}) {
    CAPTURE(words);
    CHECK(told.find(words) != std::string::npos);
  }
  CHECK(told.find("secret") == std::string::npos);
  CHECK(!parse(program, {"--secret", "5"}));
  CHECK(secret == 5);
}

TEST_CASE("the command that was named is chosen, with its own options") {
  Options program("doc", "1.0");
  program.require_command();
  Options& train = program.add_command("train", "");
  Options& bench = program.add_command("bench", "");
  bench.require_command();
  Options& env = bench.add_command("env", "");
  int seed = 0;
  train.add("--seed", seed, "");
  CHECK(parse(program, {}) == Exit::usage);
  CHECK(parse(program, {"bench"}) == Exit::usage);
  CHECK(parse(program, {"bench", "env", "--seed", "1"}) == Exit::usage);
  CHECK(!parse(program, {"bench", "env"}));
  CHECK(env.chosen());
  CHECK(bench.chosen());
  CHECK(!train.chosen());
  CHECK(!parse(program, {"train", "--seed", "4"}));
  CHECK(train.chosen());
  CHECK(!env.chosen());
  CHECK(seed == 4);
}

TEST_CASE("functions get their texts: the last of one, each of a repeated one, in order") {
  Options program("doc", "1.0");
  std::vector<std::string> calls;
  program.add_call(
      "--once", [&](const std::string& text) { calls.push_back("once " + text); }, "");
  program.add_repeated_call(
      "--often", [&](const std::string& text) { calls.push_back("often " + text); }, "");
  CHECK(!parse(program, {"--often", "a", "--once", "x", "--often", "b"}));
  CHECK(calls == std::vector<std::string>{"once x", "often a", "often b"});
  Options strict("doc", "1.0");
  strict.add_call(
      "--once", [](const std::string& text) { throw ConfigError("not " + text); }, "");
  CHECK_THROWS_WITH_AS(parse(strict, {"--once", "this"}), "not this", ConfigError);
}

TEST_CASE("words that are not known are kept in order where they are allowed") {
  Options program("doc", "1.0");
  Options& train = program.add_command("train", "");
  Options& pass = program.add_command("pass", "");
  int seed = 0;
  train.add("--seed", seed, "");
  train.allow_extras();
  pass.pass_all_on();
  CHECK(!parse(program, {"train", "--max-steps", "5", "--seed", "2", "--fast"}));
  CHECK(train.extras() == std::vector<std::string>{"--max-steps", "5", "--fast"});
  CHECK(seed == 2);
  CHECK(!parse(program, {"pass", "--help", "--seed", "2"}));
  CHECK(pass.extras() == std::vector<std::string>{"--help", "--seed", "2"});
}

TEST_CASE("spellings are the long names of all options, for suggestions") {
  Options program("doc", "1.0");
  int n = 0;
  program.add("--num-envs,--n-envs,-n", n, "");
  const std::vector<std::string> names = program.spellings();
  for (const char* name : {"--num-envs", "--n-envs", "--help", "--version"}) {
    CAPTURE(name);
    CHECK(std::find(names.begin(), names.end(), name) != names.end());
  }
  CHECK(nearest("--num-env", names) == "--num-envs");
}

TEST_CASE("a number too large for a flag is a mistake of usage") {
  Options program("doc", "1.0");
  bool bar = true;
  program.add_flag("--bar,!--no-bar", bar, "");
  std::string told;
  CHECK(parse(program, {"--no-bar=99999999999999999999"}, &told) == Exit::usage);
  CHECK(told.find("flags take none") != std::string::npos);
}
