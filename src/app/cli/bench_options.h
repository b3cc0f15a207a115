#pragma once
#include "app/cli/verbs.h"
#include "penstock/app/bench/bench.h"

namespace penstock::cli {

/// What the verbs of `bench` share.
struct BenchArgs {
  Common common;
  BenchOptions options;
};

/// The config's options, --rounds, --round-seconds, --duration and --json.
void add_bench_options(Options& verb, BenchArgs& args);

Verb bench_workers_verb(Options& bench, const Catalog& catalog);

}  // namespace penstock::cli
