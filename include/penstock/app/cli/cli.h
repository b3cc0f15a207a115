#pragma once
#include "penstock/core/train/catalog.h"

namespace penstock {

/// The whole command line: `penstock train|resume|eval|bench|envs|config|doctor`, and the verbs of
/// the catalog's domains. Returns the exit code; errors are printed to stderr, never thrown. An
/// out-of-tree program calls it with a catalog of its own.
int run_cli(int argc, const char* const* argv, const Catalog& catalog);

}  // namespace penstock
