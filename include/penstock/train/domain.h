#pragma once
#include <functional>
#include <string>
#include <vector>

#include "penstock/base/errors.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11 calls itself so
class App;
}

namespace penstock {

struct Catalog;

/// A verb of the command line. It has added itself to the app; `run` is called when it was chosen.
struct Verb {
  CLI::App* app = nullptr;
  std::function<Exit()> run;
};

/// A line of the catalog: what can be done in one domain beside training, as `penstock NAME VERB`.
/// `add_verbs` is given the subcommand NAME and the catalog, which outlives the verbs.
struct DomainEntry {
  std::string name;
  std::string doc;
  std::function<std::vector<Verb>(CLI::App& app, const Catalog& catalog)> add_verbs;
};

}  // namespace penstock
