#include "penstock/cli/cli.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <exception>

#include "cli/verbs.h"
#include "cli/version.h"

namespace penstock {
namespace {

int report(const char* what, Exit exit) {
  fmt::print(stderr, "penstock: {}\n", what);
  return static_cast<int>(exit);
}

/// CLI11 only says that a verb is missing; a misspelt one deserves better.
void check_verb(const CLI::App& app, const char* word) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands({})) { names.push_back(verb->get_name()); }
  if (word[0] != '-' && std::find(names.begin(), names.end(), word) == names.end()) {
    throw UsageError(fmt::format("'{}' is not one of {}{}", word, fmt::join(names, ", "),
                                 did_you_mean(word, names)));
  }
}

int dispatch(int argc, const char* const* argv, const Catalog& catalog) {
  CLI::App app{"Penstock: parallel reinforcement learning, native and reproducible"};
  app.set_version_flag("--version", std::string("penstock ") + cli::version());
  app.require_subcommand(1);
  std::vector<cli::Verb> verbs = {cli::train_verb(app, catalog), cli::resume_verb(app, catalog),
                                  cli::eval_verb(app, catalog),  cli::replay_verb(app, catalog),
                                  cli::envs_verb(app, catalog),  cli::config_verb(app, catalog),
                                  cli::doctor_verb(app, catalog)};
  for (cli::Verb& verb : cli::bench_verbs(app, catalog)) { verbs.push_back(std::move(verb)); }
  if (argc > 1) { check_verb(app, argv[1]); }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(Exit::usage);
  }
  for (const cli::Verb& verb : verbs) {
    if (verb.app->parsed()) { return static_cast<int>(verb.run()); }
  }
  return static_cast<int>(Exit::usage);
}

}  // namespace

int run_cli(int argc, const char* const* argv, const Catalog& catalog) {
  try {
    return dispatch(argc, argv, catalog);
  } catch (const Error& error) {
    return report(error.what(), error.exit());
  } catch (const std::bad_alloc&) {
    return report("out of memory; fewer --num-envs, rollout.steps or a smaller ppo.minibatch help",
                  Exit::failed);
  } catch (const std::exception& error) { return report(error.what(), Exit::failed); }
}

}  // namespace penstock
