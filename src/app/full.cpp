#include "penstock/app/catalog/catalog.h"
#include "penstock/app/cli/cli.h"

/// Every verb; see main.cpp.
extern "C" __attribute__((visibility("default"))) int penstock_main(int argc, char** argv) {
  return penstock::run_cli(argc, argv, penstock::default_catalog());
}
