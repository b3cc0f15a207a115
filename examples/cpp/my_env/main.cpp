// Everything that `penstock` can do, with one more env:
//     my_env train --env my_env --num-envs 8 --total-timesteps 200_000
#include "docking.h"
#include "penstock/penstock.h"

int main(int argc, char** argv) {
  auto catalog = penstock::default_catalog();
  catalog.envs.push_back(
      penstock::env_entry<Docking>("my_env", "bring a ship to rest at the quay, in one dimension"));
  return penstock::run_cli(argc, argv, catalog);
}
