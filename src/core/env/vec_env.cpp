#include "penstock/core/env/vec_env.h"

#include "penstock/core/base/errors.h"

namespace penstock {

void report_failure(std::size_t env, std::uint64_t seed, std::int64_t step, const char* what) {
  throw Error(Exit::failed, "env " + std::to_string(env) + ", episode seed " +
                                std::to_string(seed) + ", step " + std::to_string(step) + ": " +
                                what);
}

std::vector<std::byte> save_shared(VecEnv& envs) {
  std::vector<std::byte> bytes;
  if (const SharedLearner* shared = envs.shared()) { shared->save(bytes); }
  return bytes;
}

void load_shared(VecEnv& envs, std::span<const std::byte> bytes) {
  if (bytes.empty()) { return; }
  SharedLearner* shared = envs.shared();
  if (shared == nullptr) { throw DataError("env state: these envs share nothing"); }
  shared->load(bytes);
}

EnvEntry with_settings(EnvEntry entry, std::vector<std::string> assignments, std::string origin) {
  entry.make_factory = [make = std::move(entry.make_factory), assignments = std::move(assignments),
                        origin = std::move(origin)] {
    auto factory = make();
    Settings settings;
    for (const std::string& each : assignments) { settings.add_assignment(each, origin); }
    std::vector<Field> fields = factory->fields();
    penstock::apply(fields, settings);  // unqualified, std::apply is found too
    return factory;
  };
  return entry;
}

}  // namespace penstock
