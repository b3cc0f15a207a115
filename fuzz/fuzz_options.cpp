// Any words of a command line, one a line, are either understood or answered with help, the version
// or a report of what is wrong; numbers that are understood lie where they must.
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <vector>

#include "mutate.h"
#include "penstock/core/base/options.h"

namespace {

using namespace penstock;

void require(bool holds) {
  if (!holds) { std::abort(); }
}

struct Sample {
  std::string config;
  int threads = 1;
  std::int64_t steps = 1;
  std::uint64_t seed = 1;
  double rate = 0.5;
  std::vector<std::int32_t> order;
  std::vector<std::string> assignments;
  std::string red = "bline";
  bool json = false;
};

void add_options(Options& verb, Sample& sample) {
  verb.add("file", sample.config, "by position");
  verb.add("--num-threads,--n-threads", sample.threads, "within").within(1, 8);
  const Option steps = verb.add("--steps", sample.steps, "above 0").positive();
  verb.add("--seed", sample.seed, "unsigned").show_default();
  verb.add("--rate", sample.rate, "real").within(0.0, 1.0).excludes(steps);
  verb.add_list("--order", sample.order, "a list");
  verb.add_repeated("--set", sample.assignments, "again and again");
  verb.add("--red", sample.red, "words").one_of({"bline", "meander"});
  verb.add_call(
          "--key", [](const std::string&) {}, "a function")
      .hide();
  verb.add_flag("--json,!--no-json", sample.json, "a flag");
}

void check(const Sample& sample) {
  require(sample.threads >= 1 && sample.threads <= 8);
  require(sample.steps > 0);
  require(sample.rate >= 0 && sample.rate <= 1);
  require(sample.red == "bline" || sample.red == "meander");
}

}  // namespace

FUZZ_TEXT_MUTATOR

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::cout.setstate(std::ios::badbit);  // help and reports are written for nobody
  std::cerr.setstate(std::ios::badbit);
  std::vector<std::string> words = {"penstock"};
  std::istringstream text(fuzz::text_of(data, size));
  for (std::string word; std::getline(text, word);) { words.push_back(word.c_str()); }
  std::vector<const char*> arguments;
  for (const std::string& word : words) { arguments.push_back(word.c_str()); }
  Sample sample;
  Options program("a program", "1.0");
  program.require_command();
  add_options(program.add_command("train", "a verb"), sample);
  program.add_command("python", "another program").pass_all_on();
  program.add_command("bench", "unknown words are kept").allow_extras();
  const auto exit = program.parse(static_cast<int>(arguments.size()), arguments.data());
  if (!exit) { check(sample); }
  return 0;
}
