#pragma once
#include <functional>

#include "penstock/core/base/options.h"

namespace penstock {

/// A verb of a domain that is answered without what the other verbs need: libtorch takes half a
/// second to load.
struct LightVerb {
  const char* name = "";
  const char* doc = "";
  std::function<Exit()> (*add_options)(Options&) = nullptr;
};

/// Runs a command line of the form `penstock DOMAIN VERB ...`, as the whole program would; the verb
/// is called `domain VERB` in the help, whatever name of the domain was given. Returns the exit
/// code; errors are printed to stderr, never thrown.
int run_light_verb(const LightVerb& verb, const char* domain, int argc, const char* const* argv);

}  // namespace penstock
