#pragma once
#include <functional>
#include <string>
#include <vector>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/options.h"

namespace penstock {

struct Catalog;

/// A verb of the command line. It has added its options; `run` is called when it was chosen.
struct Verb {
  const Options* options = nullptr;
  std::function<Exit()> run;
};

/// A line of the catalog: what can be done in one domain beside training, as `penstock NAME VERB`.
/// `add_verbs` is given the subcommand NAME and the catalog, which outlives the verbs.
/// An out-of-tree domain adds such a line; the command line needs no other change.
struct DomainEntry {
  std::string name;  // "booking"
  std::string doc;
  std::function<std::vector<Verb>(Options& app, const Catalog& catalog)> add_verbs;
  std::string former_name = {};  // accepted in the place of the name
};

}  // namespace penstock
