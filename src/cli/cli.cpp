#include "penstock/cli/cli.h"

#include <fmt/format.h>

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

int dispatch(int argc, const char* const* argv, const Catalog& catalog) {
  CLI::App app{"Penstock: parallel reinforcement learning, native and reproducible"};
  app.set_version_flag("--version", std::string("penstock ") + cli::version());
  app.require_subcommand(1);
  std::vector<cli::Verb> verbs = {cli::train_verb(app, catalog),  cli::resume_verb(app, catalog),
                                  cli::eval_verb(app, catalog),   cli::envs_verb(app, catalog),
                                  cli::config_verb(app, catalog), cli::doctor_verb(app, catalog)};
  for (cli::Verb& verb : cli::bench_verbs(app, catalog)) { verbs.push_back(std::move(verb)); }
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
