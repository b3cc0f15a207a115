// How long one decision takes: a row in, the most likely action out, on one thread, without
// libtorch.
//     act_bench POLICY.safetensors [DECISIONS]
// Times are of single calls, the clock's own reading included.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "penstock/act.h"

int main(int argc, char** argv) try {
  if (argc < 2) { throw penstock::UsageError("usage: act_bench POLICY.safetensors [DECISIONS]"); }
  const std::size_t count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1'000'000;
  const auto model = penstock::PolicyModel::load(argv[1]);
  const penstock::EnvSpec& spec = model->spec();
  const auto actor = penstock::make_actor(model);
  std::vector<float> row(spec.obs.size());
  const bool box = spec.action.continuous();
  std::vector<std::int64_t> choices(box ? 0 : spec.action.dims());
  std::vector<float> points(box ? spec.action.dims() : 0);
  std::vector<double> nanoseconds(count);
  for (std::size_t i = 0; i < count; ++i) {
    row[i % row.size()] += 0.001F * static_cast<float>(i % 7) - 0.003F;  // never the same row twice
    const auto begin = std::chrono::steady_clock::now();
    actor->act({.count = 1, .obs = row}, {.choices = choices, .env_points = points});
    const auto end = std::chrono::steady_clock::now();
    nanoseconds[i] = std::chrono::duration<double, std::nano>(end - begin).count();
  }
  std::ranges::sort(nanoseconds);
  const auto at = [&](double share) { return nanoseconds[std::size_t(share * double(count - 1))]; };
  std::printf("{\"decisions\": %zu, \"p50_ns\": %.0f, \"p99_ns\": %.0f, \"worst_ns\": %.0f}\n",
              count, at(0.5), at(0.99), nanoseconds.back());
  return 0;
} catch (const penstock::Error& error) {
  std::fprintf(stderr, "act_bench: %s\n", error.what());
  return int(error.exit());
}
