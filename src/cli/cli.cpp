#include "penstock/cli/cli.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <span>

#include "cli/verbs.h"
#include "cli/version.h"

namespace penstock {
namespace {

int report(const char* what, Exit exit) {
  fmt::print(stderr, "penstock: {}\n", what);
  return static_cast<int>(exit);
}

/// CLI11 only says that a verb is missing; a misspelt one deserves better. A verb may be a group of
/// verbs.
void check_verbs(const CLI::App& app, std::span<const char* const> words) {
  const std::vector<const CLI::App*> verbs = app.get_subcommands({});
  if (verbs.empty() || words.empty() || words[0][0] == '-') { return; }
  const std::string word = words[0];
  std::vector<std::string> names;
  names.reserve(verbs.size());
  for (const CLI::App* verb : verbs) { names.push_back(verb->get_name()); }
  const auto found = std::find(names.begin(), names.end(), word);
  if (found == names.end()) {
    throw UsageError(fmt::format("'{}' is not one of {}{}", word, fmt::join(names, ", "),
                                 did_you_mean(word, names)));
  }
  check_verbs(*verbs[static_cast<std::size_t>(found - names.begin())], words.subspan(1));
}

void add_domains(CLI::App& app, const Catalog& catalog, std::vector<Verb>& verbs) {
  for (const DomainEntry& domain : catalog.domains) {
    CLI::App* group = app.add_subcommand(domain.name, domain.doc);
    group->require_subcommand(1);
    for (Verb& verb : domain.add_verbs(*group, catalog)) { verbs.push_back(std::move(verb)); }
  }
}

int dispatch(int argc, const char* const* argv, const Catalog& catalog) {
  CLI::App app{"Penstock: parallel reinforcement learning, native and reproducible"};
  app.set_version_flag("--version", std::string("penstock ") + cli::version());
  app.require_subcommand(1);
  std::vector<Verb> verbs = {cli::train_verb(app, catalog), cli::resume_verb(app, catalog),
                             cli::eval_verb(app, catalog),  cli::replay_verb(app, catalog),
                             cli::envs_verb(app, catalog),  cli::config_verb(app, catalog),
                             cli::doctor_verb(app, catalog)};
  for (Verb& verb : cli::bench_verbs(app, catalog)) { verbs.push_back(std::move(verb)); }
  add_domains(app, catalog, verbs);
  check_verbs(app, std::span(argv, static_cast<std::size_t>(argc)).subspan(1));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(Exit::usage);
  }
  for (const Verb& verb : verbs) {
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
