#include "penstock/app/cli/cli.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>
#include <span>

#include "app/cli/verbs.h"
#include "penstock/core/base/note.h"
#include "penstock/core/base/text.h"
#include "penstock/core/base/version_info.h"

namespace penstock {
namespace {

constexpr const char* kOutOfMemory =
    "out of memory; fewer --num-envs, rollout.steps or a smaller ppo.minibatch help";

int report(const char* what, Exit exit) {
  print_note(what);
  return static_cast<int>(exit);
}

/// CLI11 only says that a verb is missing; a misspelt one deserves better. A verb may be a group of
/// verbs.
void check_verbs(const Options& app, std::span<const char* const> words) {
  const auto& verbs = app.commands();
  if (verbs.empty() || words.empty() || words[0][0] == '-') { return; }
  const std::string word = words[0];
  std::vector<std::string> names;
  names.reserve(verbs.size());
  for (const auto& verb : verbs) { names.push_back(verb->name()); }
  const auto found = std::find(names.begin(), names.end(), word);
  if (found == names.end()) {
    throw UsageError(fmt::format("'{}' is not one of {}{}", word, fmt::join(names, ", "),
                                 did_you_mean(word, names)));
  }
  check_verbs(*verbs[found - names.begin()], words.subspan(1));
}

void add_domains(Options& app, const Catalog& catalog, std::vector<Verb>& verbs) {
  for (const DomainEntry& domain : catalog.domains) {
    Options& group = app.add_command(domain.name, domain.doc);
    group.require_command();
    for (Verb& verb : domain.add_verbs(group, catalog)) { verbs.push_back(std::move(verb)); }
  }
}

/// The command line with a domain's former name replaced by its name.
std::vector<const char*> words_of(int argc, const char* const* argv, const Catalog& catalog) {
  std::vector<const char*> words(argv, argv + argc);
  for (const DomainEntry& domain : catalog.domains) {
    const bool former = argc > 1 && !domain.former_name.empty() && argv[1] == domain.former_name;
    if (former) { words[1] = domain.name.c_str(); }
  }
  return words;
}

int dispatch(int argc, const char* const* argv, const Catalog& catalog) {
  Options app("Penstock: parallel reinforcement learning, native and reproducible",
              std::string("penstock ") + version());
  app.require_command();
  std::vector<Verb> verbs = {cli::train_verb(app, catalog),  cli::resume_verb(app, catalog),
                             cli::eval_verb(app, catalog),   cli::export_verb(app, catalog),
                             cli::replay_verb(app, catalog), cli::envs_verb(app, catalog),
                             cli::config_verb(app, catalog), cli::fleet_verb(app, catalog),
                             cli::doctor_verb(app, catalog)};
  for (Verb& verb : cli::bench_verbs(app, catalog)) { verbs.push_back(std::move(verb)); }
  add_domains(app, catalog, verbs);
  const std::vector<const char*> words = words_of(argc, argv, catalog);
  check_verbs(app, std::span(words).subspan(1));
  if (const auto told = app.parse(argc, words.data())) { return static_cast<int>(*told); }
  for (const Verb& verb : verbs) {
    if (verb.options->chosen()) { return static_cast<int>(verb.run()); }
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
    return report(kOutOfMemory, Exit::failed);
  } catch (const c10::Error& error) {  // without the stack of libtorch's functions
    const std::string what = error.what_without_backtrace();
    const bool memory = what.find("can't allocate memory") != std::string::npos;
    return report(memory ? kOutOfMemory : what.c_str(), Exit::failed);
  } catch (const std::exception& error) { return report(error.what(), Exit::failed); }
}

}  // namespace penstock
