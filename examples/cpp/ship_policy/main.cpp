// Acts with a policy that `penstock export RUN --out policy.safetensors` wrote; libtorch is not
// needed:
//     ship_policy policy.safetensors 0.1 0 -0.2 0
#include <cstdlib>
#include <iostream>

#include "penstock/act.h"

/// The most likely action for one observation, printed.
void act(const std::string& file, const std::vector<float>& row) {
  const auto model = penstock::PolicyModel::load(file);
  const penstock::EnvSpec& spec = model->spec();
  if (row.size() != spec.obs.size()) {
    throw penstock::UsageError("the policy sees " + std::to_string(spec.obs.size()) + " numbers");
  }
  const bool box = spec.action.continuous();
  std::vector<std::int64_t> choices(box ? 0 : spec.action.dims());
  std::vector<float> points(box ? spec.action.dims() : 0);
  penstock::make_actor(model)->act({.count = 1, .obs = row},
                                   {.choices = choices, .env_points = points});
  for (const std::int64_t choice : choices) { std::cout << choice << '\n'; }
  for (const float point : points) { std::cout << point << '\n'; }
}

int main(int argc, char** argv) try {
  if (argc < 3) { throw penstock::UsageError("usage: ship_policy FILE NUMBER..."); }
  std::vector<float> row;
  for (int i = 2; i < argc; ++i) { row.push_back(std::strtof(argv[i], nullptr)); }
  act(argv[1], row);
} catch (const penstock::Error& error) {
  std::cerr << "ship_policy: " << error.what() << '\n';
  return EXIT_FAILURE;
}
