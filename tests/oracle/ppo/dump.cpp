// Writes one rollout and one PPO update per case, for test_ppo.py to compute again by itself:
//   dump OUT_DIR  ->  OUT_DIR/<case>-<learner>.safetensors, OUT_DIR/<case>-<learner>.json
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "penstock/app/catalog/catalog.h"
#include "penstock/core/algo/ppo.h"
#include "penstock/core/rollout/sampler.h"
#include "penstock/core/store/safetensors.h"
#include "penstock/core/train/config.h"

using namespace penstock;

namespace {

struct Case {
  std::string name;
  std::vector<std::string> settings;
};

const std::vector<Case> kCases = {
    {"cartpole", {"env.id=cartpole", "env.num_envs=10", "rollout.steps=40"}},
    {"uneven", {"env.id=cartpole", "env.num_envs=7", "rollout.shards=3", "ppo.max_grad_norm=0"}},
    {"value_clip",
     {"env.id=cartpole", "env.num_envs=8", "ppo.value_clip=0.1", "ppo.clip=0.05",
      "ppo.entropy_weight=0.02", "net.shared_trunk=true", "net.activation=relu",
      "env.max_steps=9"}},
    {"epochs", {"env.id=acrobot", "env.num_envs=6", "ppo.policy_epochs=1", "ppo.value_epochs=4"}},
    {"masked", {"env.id=masked", "env.num_envs=9", "ppo.entropy_weight=0.01", "rollout.shards=3"}},
    {"multi", {"env.id=multi", "env.num_envs=8", "ppo.entropy_weight=0.01"}},
    {"pendulum",
     {"env.id=pendulum", "env.num_envs=8", "env.max_steps=11", "ppo.normalise_advantage=false"}},
    {"squashed", {"env.id=reach", "env.num_envs=8", "net.squash=true", "net.log_std_init=-0.5"}},
};

using Named = std::vector<std::pair<std::string, at::Tensor>>;

void write(const std::string& path, const Named& tensors) {
  std::vector<TensorView> views;
  std::vector<at::Tensor> kept;
  for (const auto& [name, tensor] : tensors) {
    const at::Tensor& x = kept.emplace_back(tensor.contiguous());
    const Dtype dtype = x.scalar_type() == at::kFloat  ? Dtype::f32
                        : x.scalar_type() == at::kLong ? Dtype::i64
                                                       : Dtype::boolean;
    views.push_back(
        {name, dtype, x.sizes().vec(), {static_cast<std::byte*>(x.data_ptr()), x.nbytes()}});
  }
  const std::vector<std::byte> bytes = to_safetensors(views);
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

void add_weights(const Policy& policy, const std::string& prefix, Named& out) {
  for (const ParameterSlot& slot : policy.slots()) {
    out.emplace_back(prefix + slot.name, Policy::view(policy.weights(), slot).clone());
  }
}

void run(const Case& which, Fusion fusion, const std::string& path) {
  Settings settings;
  for (const char* common :
       {"rollout.steps=32", "rollout.shards=2", "ppo.minibatch=70", "net.hidden=[16, 16]",
        "ppo.policy_epochs=3", "ppo.value_epochs=3", "seed=11"}) {
    settings.add_assignment(common, "dump");
  }
  for (const std::string& setting : which.settings) { settings.add_assignment(setting, "dump"); }
  const RunPlan plan(settings, default_catalog());
  const RunConfig& config = plan.config();
  const auto envs = plan.env().make(static_cast<std::size_t>(config.env.num_envs), config.seed);
  const Shards shards(envs->num_envs(), static_cast<std::size_t>(config.rollout.shards));
  const std::shared_ptr<const ActionHead> head =
      make_action_head(envs->spec().action, config.net.squash);
  Policy policy([&] { return plan.network().make(envs->spec(), config.seed); }, shards.count(),
                at::kCPU, fusion);
  ThreadPool pool({.num_threads = 2, .on_start = [] { at::set_num_threads(1); }});
  Fragment buffer(envs->spec(), plan.horizon(), config.env.num_envs);
  const auto model = policy.publish(policy.shape(envs->spec(), head, 0), {});
  std::vector<std::unique_ptr<Actor>> actors;
  for (std::size_t s = 0; s < shards.count(); ++s) { actors.push_back(make_actor(model)); }
  Sampler sampler(*envs, std::move(actors), shards, buffer, pool, alone(), {.seed = config.seed});
  const PpoConfig& ppo_keys = *ppo_config(plan.algorithm());
  const LearnerParts parts{.policy = policy,
                           .head = *head,
                           .shards = shards,
                           .pool = pool,
                           .peers = alone(),
                           .seed = config.seed};
  Ppo ppo(ppo_keys, parts);

  sampler.advance(plan.horizon());
  sampler.finish();
  Named out;
  for (const auto& [name, tensor] : buffer.tensors()) {
    out.emplace_back("rollout." + name, tensor);
  }
  GaeTargets gae(parts, {.gamma = ppo_keys.gamma, .lambda = ppo_keys.gae_lambda});
  const Targets targets = gae.compute(buffer, {});
  out.emplace_back("rollout.advantage", targets.advantage);
  out.emplace_back("rollout.target", targets.value);
  add_weights(policy, "before.", out);
  const Metrics metrics = ppo.update(buffer, 0.0);
  add_weights(policy, "after.", out);
  write(path + ".safetensors", out);

  nlohmann::json info;
  for (const Field& field : plan.fields()) { info["config"][field.path] = value_text(field); }
  for (const auto& [name, value] : metrics) { info["metrics"][name] = value; }
  for (std::size_t s = 0; s < shards.count(); ++s) {
    info["shards"].push_back({shards.range(s).begin, shards.range(s).end});
  }
  info["choices"] = envs->spec().action.choices();
  if (envs->spec().action.continuous()) {
    info["low"] = envs->spec().action.box().low;
    info["high"] = envs->spec().action.box().high;
  }
  std::ofstream(path + ".json") << info.dump(1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) { return 2; }
  for (const Case& which : kCases) {
    const std::string path = std::string(argv[1]) + "/" + which.name;
    run(which, Fusion::never, path + "-eager");
    run(which, Fusion::always, path + "-fused");
  }
  return 0;
}
