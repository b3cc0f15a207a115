#include "penstock/app/catalog/catalog.h"
#include "penstock/app/cli/cli.h"

int main(int argc, char** argv) {
  return penstock::run_cli(argc, argv, penstock::default_catalog());
}
