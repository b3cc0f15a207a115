#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/train/checkpoint_tensors.h"
#include "core/train/engine_parts.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/json.h"

// What a checkpoint holds, file by file:
//   model   the weights by name, and normaliser.obs [F, 3] (count, mean, sum of squared deviations)
//   optim   the learner's state; Adam's moments by name: exp_avg.<name>, exp_avg_sq.<name>
//   envs    the envs' states (bytes, with offsets), the sampler's, and the rollout in flight

namespace penstock {
namespace {

using Json = nlohmann::json;

Dtype dtype_of(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return Dtype::f32;
    case at::kDouble:
      return Dtype::f64;
    case at::kInt:
      return Dtype::i32;
    case at::kLong:
      return Dtype::i64;
    case at::kByte:
      return Dtype::u8;
    case at::kBool:
      return Dtype::boolean;
    default:
      throw std::logic_error("no checkpoint type for this tensor");
  }
}

/// Collects named tensors as views, keeping alive what had to be copied.
class Writer {
 public:
  explicit Writer(Engine::Snapshot& snapshot) : snapshot_(snapshot) {}
  void add(const std::string& file, const std::string& name, const at::Tensor& tensor) {
    if (!tensor.defined()) { return; }
    const at::Tensor& kept = snapshot_.kept_tensors.emplace_back(tensor.to(at::kCPU).contiguous());
    snapshot_.data.tensors[file].push_back(
        {.name = name,
         .dtype = dtype_of(kept.scalar_type()),
         .shape = kept.sizes().vec(),
         .data = {static_cast<const std::byte*>(kept.data_ptr()), kept.nbytes()}});
  }

 private:
  Engine::Snapshot& snapshot_;
};

/// A learner's state has the names and shapes of a fresh one's.
void load_learner(const Checkpoint& checkpoint, const detail::Counters& counters,
                  Learner& learner) {
  LearnerState state = learner.save();
  for (LearnerState::Entry& entry : state.tensors) {
    const at::Tensor fresh = entry.tensor;
    entry.tensor = detail::read_tensor(checkpoint, entry.file, entry.name);
    if (entry.tensor.sizes() != fresh.sizes() ||
        entry.tensor.scalar_type() != fresh.scalar_type()) {
      throw DataError("checkpoint: " + entry.file + " '" + entry.name +
                      "' has another shape or type than this config's");
    }
  }
  for (auto& [name, value] : state.counters) { value = detail::counter(counters, name); }
  learner.load(state);
}

void add_envs(VecEnv& envs, Engine::Snapshot& snapshot, Writer& writer) {
  at::Tensor offsets = at::empty({static_cast<std::int64_t>(envs.num_envs()) + 1}, at::kLong);
  auto* offset = offsets.data_ptr<std::int64_t>();
  *offset++ = 0;
  for (std::size_t i = 0; i < envs.num_envs(); ++i) {
    envs.save(i, snapshot.env_bytes);
    *offset++ = snapshot.env_bytes.size();
  }
  writer.add("envs", "env.offsets", offsets);
  snapshot.data.tensors["envs"].push_back({.name = "env.bytes",
                                           .dtype = Dtype::u8,
                                           .shape = {std::ssize(snapshot.env_bytes)},
                                           .data = snapshot.env_bytes});
  snapshot.shared_bytes = save_shared(envs);
  if (snapshot.shared_bytes.empty()) { return; }
  snapshot.data.tensors["envs"].push_back({.name = "env.shared",
                                           .dtype = Dtype::u8,
                                           .shape = {std::ssize(snapshot.shared_bytes)},
                                           .data = snapshot.shared_bytes});
}

void load_envs(const Checkpoint& checkpoint, VecEnv& envs) {
  const at::Tensor offsets = detail::read_tensor(checkpoint, "envs", "env.offsets");
  const at::Tensor bytes = detail::read_tensor(checkpoint, "envs", "env.bytes");
  if (offsets.scalar_type() != at::kLong || bytes.scalar_type() != at::kByte ||
      offsets.numel() != static_cast<std::int64_t>(envs.num_envs()) + 1) {
    throw DataError("checkpoint: it is of another number of envs");
  }
  const auto* offset = offsets.data_ptr<std::int64_t>();
  const std::span<const std::byte> all(static_cast<const std::byte*>(bytes.data_ptr()),
                                       bytes.nbytes());
  for (std::size_t i = 0; i < envs.num_envs(); ++i) {
    const std::int64_t begin = offset[i];
    const std::int64_t end = offset[i + 1];
    if (begin < 0 || end < begin || end > bytes.numel()) {
      throw DataError("checkpoint: the env offsets are not in order");
    }
    envs.load(i, all.subspan(begin, end - begin));
  }
}

}  // namespace

std::unique_ptr<Engine::Snapshot> Engine::snapshot() const {
  auto snapshot = std::make_unique<Snapshot>();
  Writer writer(*snapshot);
  Parts& p = *parts_;
  for (const ParameterSlot& slot : p.policy.slots()) {
    writer.add("model", slot.name, Policy::view(p.policy.weights(), slot));
  }
  const LearnerState learner = p.learner->save();
  for (const LearnerState::Entry& entry : learner.tensors) {
    writer.add(entry.file, entry.name, entry.tensor);
  }
  const Sampler::State sampler = p.sampler.save();
  writer.add("model", "normaliser.obs", sampler.obs_moments);
  writer.add("envs", "carry.obs", sampler.carry_obs);
  writer.add("envs", "carry.legal", sampler.carry_legal);
  writer.add("envs", "tally.obs", sampler.obs_tally);
  writer.add("envs", "episodes", sampler.episodes);
  add_envs(*p.envs, *snapshot, writer);
  if (sampler.position > 0) {
    for (const auto& [name, tensor] : p.buffer.tensors()) {
      writer.add("envs", "rollout." + name, tensor);
    }
  }
  Json counters = learner.counters;
  counters["position"] = sampler.position;
  counters["steps_per_env"] = sampler.steps_per_env;
  counters["updates"] = p.policy.version();
  snapshot->data.state = to_text(counters);
  return snapshot;
}

void Engine::start_from(const Checkpoint& checkpoint) {
  Parts& p = *parts_;
  detail::check_normalised(checkpoint, p.config.normalise.obs);
  if (p.config.normalise.obs) {
    p.sampler.begin_with(detail::read_moments(checkpoint, p.envs->spec().obs.size()));
  }
  detail::read_weights(checkpoint, p.policy);
  p.sampler.adopt(p.publish());
}

void Engine::set_weights(const std::map<std::string, at::Tensor>& weights) {
  Parts& p = *parts_;
  for (const auto& [name, tensor] : weights) {
    const auto& slots = p.policy.slots();
    const auto slot = std::ranges::find(slots, name, &ParameterSlot::name);
    if (slot == slots.end()) { throw UsageError("the network has no parameter '" + name + "'"); }
    at::Tensor into = Policy::view(p.policy.weights(), *slot);
    if (tensor.sizes() != into.sizes()) {
      throw UsageError(fmt::format("the parameter '{}' is [{}], expected [{}]", name,
                                   fmt::join(tensor.sizes(), ", "), fmt::join(into.sizes(), ", ")));
    }
    into.copy_(tensor);
  }
  p.policy.weights_changed();
  p.sampler.adopt(p.publish());
}

void Engine::restore(const Checkpoint& checkpoint) {
  Parts& p = *parts_;
  const auto counters = detail::counters_of(checkpoint);
  detail::read_weights(checkpoint, p.policy);
  p.policy.set_version(detail::counter(counters, "updates"));
  load_learner(checkpoint, counters, *p.learner);
  load_shared(*p.envs, detail::shared_bytes(checkpoint));
  load_envs(checkpoint, *p.envs);

  detail::check_normalised(checkpoint, p.config.normalise.obs);
  Sampler::State state;
  state.position = detail::counter(counters, "position");
  state.steps_per_env = detail::counter(counters, "steps_per_env");
  if (p.config.normalise.obs) {
    state.obs_moments = detail::read_tensor(checkpoint, "model", "normaliser.obs");
    state.obs_tally = detail::read_tensor(checkpoint, "envs", "tally.obs");
  }
  state.carry_obs = detail::read_tensor(checkpoint, "envs", "carry.obs");
  if (p.buffer.legal.defined()) {
    state.carry_legal = detail::read_tensor(checkpoint, "envs", "carry.legal");
  }
  state.episodes = detail::read_tensor(checkpoint, "envs", "episodes");
  if (state.position > 0) {
    for (const auto& [name, tensor] : p.buffer.tensors()) {
      detail::read_into(checkpoint, "envs", "rollout." + name, tensor);
    }
  }
  p.sampler.load(state);
  p.sampler.adopt(p.publish());
}

}  // namespace penstock
