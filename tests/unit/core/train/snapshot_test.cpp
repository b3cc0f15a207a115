// Snapshots own what they show, and their memory may be used again.
#include <doctest/doctest.h>

#include <map>

#include "penstock/app/catalog/catalog.h"
#include "penstock/core/train/engine.h"

using namespace penstock;

namespace {

/// "model/actor.0.weight" to its shape and bytes.
using Contents = std::map<std::string, std::pair<std::vector<std::int64_t>, std::string>>;

Contents contents_of(Engine::Snapshot& snapshot) {
  Contents contents;
  const CheckpointData data = snapshot.data();
  for (const auto& [file, tensors] : data.tensors) {
    for (const TensorView& view : tensors) {
      std::string bytes(view.data.size(), 0);
      std::memcpy(bytes.data(), view.data.data(), view.data.size());
      contents[file + "/" + view.name] = {view.shape, bytes};
    }
  }
  contents["counters"].second = snapshot.counters;
  return contents;
}

Settings settings_of_snapshots(const std::string& env) {
  Settings settings;
  settings.add_toml(
      "total_timesteps = 100000\nthreads = 2\n[normalise]\nobs = false\nreward = true\n" + env,
      "test");
  return settings;
}

void advance(Engine& engine) {
  engine.sample(engine.steps_left());
  engine.update();
}

}  // namespace

TEST_CASE("a snapshot stays what it was while the engine moves on, and its memory is used again") {
  const Catalog catalog = default_catalog();
  for (const std::string env :
       {"[env]\nid = \"cartpole\"\nnum_envs = 16\n[rollout]\nsteps = 8\n",
        "[env]\nid = \"dvrptw\"\nnum_envs = 8\nobs = \"hist\"\nmask = \"learnt\"\n"
        "oracle = \"insertion\"\nembedding = \"sync\"\n[rollout]\nsteps = 8\n"}) {
    CAPTURE(env);
    const RunPlan plan(settings_of_snapshots(env), catalog);
    Engine engine(plan);
    advance(engine);
    engine.sample(3);  // a rollout in flight is kept too
    Engine::Snapshot snapshot;
    engine.snapshot(snapshot);
    const Contents then = contents_of(snapshot);
    CHECK(then.contains("envs/rollout.obs"));
    advance(engine);
    advance(engine);
    CHECK((contents_of(snapshot) == then));

    Engine::Snapshot new_one;
    engine.snapshot(new_one);
    engine.snapshot(snapshot);  // without a rollout: fewer tensors than before
    const Contents now = contents_of(snapshot);
    CHECK((now == contents_of(new_one)));
    CHECK((now != then));
    CHECK(!now.contains("envs/rollout.obs"));
  }
}
