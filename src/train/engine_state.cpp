#include <ATen/ATen.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "penstock/base/errors.h"
#include "train/engine_parts.h"

// What a checkpoint holds, file by file:
//   model   the weights by name, and normaliser.obs [F, 3] (count, mean, sum of squared deviations)
//   optim   Adam's moments by name: exp_avg.<name>, exp_avg_sq.<name>
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

at::ScalarType type_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::f32:
      return at::kFloat;
    case Dtype::f64:
      return at::kDouble;
    case Dtype::i32:
      return at::kInt;
    case Dtype::i64:
      return at::kLong;
    case Dtype::u8:
      return at::kByte;
    case Dtype::boolean:
      return at::kBool;
  }
  throw std::logic_error("unknown dtype");
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

/// A copy, because the file's bytes go away and need not be aligned.
at::Tensor read(const Checkpoint& checkpoint, const std::string& file, const std::string& name) {
  const auto found = checkpoint.tensors.find(file);
  if (found == checkpoint.tensors.end()) {
    throw DataError("checkpoint: no " + file + ".safetensors");
  }
  const TensorView& view = found->second.at(name);
  at::Tensor tensor = at::empty(view.shape, type_of(view.dtype));
  if (!view.data.empty()) { std::memcpy(tensor.data_ptr(), view.data.data(), view.data.size()); }
  return tensor;
}

void read_into(const Checkpoint& checkpoint, const std::string& file, const std::string& name,
               const at::Tensor& target) {
  const at::Tensor tensor = read(checkpoint, file, name);
  if (tensor.sizes() != target.sizes() || tensor.scalar_type() != target.scalar_type()) {
    throw DataError("checkpoint: " + file + " '" + name +
                    "' has another shape or type than this config's");
  }
  target.copy_(tensor);
}

void add_envs(const VecEnv& envs, Engine::Snapshot& snapshot, Writer& writer) {
  at::Tensor offsets = at::empty({static_cast<std::int64_t>(envs.num_envs()) + 1}, at::kLong);
  auto* offset = offsets.data_ptr<std::int64_t>();
  *offset++ = 0;
  for (std::size_t i = 0; i < envs.num_envs(); ++i) {
    envs.save(i, snapshot.env_bytes);
    *offset++ = static_cast<std::int64_t>(snapshot.env_bytes.size());
  }
  writer.add("envs", "env.offsets", offsets);
  snapshot.data.tensors["envs"].push_back(
      {.name = "env.bytes",
       .dtype = Dtype::u8,
       .shape = {static_cast<std::int64_t>(snapshot.env_bytes.size())},
       .data = snapshot.env_bytes});
  envs.save_shared(snapshot.shared_bytes);
  if (snapshot.shared_bytes.empty()) { return; }
  snapshot.data.tensors["envs"].push_back(
      {.name = "env.shared",
       .dtype = Dtype::u8,
       .shape = {static_cast<std::int64_t>(snapshot.shared_bytes.size())},
       .data = snapshot.shared_bytes});
}

/// Absent where envs share nothing, and in checkpoints from before they could.
void load_shared(const Checkpoint& checkpoint, VecEnv& envs) {
  const auto file = checkpoint.tensors.find("envs");
  if (file == checkpoint.tensors.end()) { return; }
  for (const TensorView& view : file->second.tensors()) {
    if (view.name == "env.shared") { envs.load_shared(view.data); }
  }
}

void load_envs(const Checkpoint& checkpoint, VecEnv& envs) {
  const at::Tensor offsets = read(checkpoint, "envs", "env.offsets");
  const at::Tensor bytes = read(checkpoint, "envs", "env.bytes");
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
    envs.load(i,
              all.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
  }
}

}  // namespace

std::unique_ptr<Engine::Snapshot> Engine::snapshot() const {
  auto snapshot = std::make_unique<Snapshot>();
  Writer writer(*snapshot);
  Parts& p = *parts_;
  for (const ParameterSlot& slot : p.policy.slots()) {
    writer.add("model", slot.name, Policy::view(p.policy.weights(), slot));
    writer.add("optim", "exp_avg." + slot.name, Policy::view(p.ppo.optimiser().exp_avg(), slot));
    writer.add("optim", "exp_avg_sq." + slot.name,
               Policy::view(p.ppo.optimiser().exp_avg_sq(), slot));
  }
  const Sampler::State sampler = p.sampler.save();
  writer.add("model", "normaliser.obs", sampler.obs_moments);
  writer.add("envs", "carry.obs", sampler.carry_obs);
  writer.add("envs", "carry.legal", sampler.carry_legal);
  writer.add("envs", "tally.obs", sampler.obs_tally);
  writer.add("envs", "reward.moments", sampler.reward_moments);
  writer.add("envs", "reward.returns", sampler.reward_returns);
  writer.add("envs", "episodes", sampler.episodes);
  add_envs(*p.envs, *snapshot, writer);
  if (sampler.position > 0) {
    for (const auto& [name, tensor] : p.buffer.tensors()) {
      writer.add("envs", "rollout." + name, tensor);
    }
  }
  snapshot->data.state = Json{{"position", sampler.position},
                              {"steps_per_env", sampler.steps_per_env},
                              {"updates", p.policy.version()},
                              {"optimiser_steps", p.ppo.optimiser().num_steps()}}
                             .dump();
  return snapshot;
}

void Engine::restore(const Checkpoint& checkpoint) {
  Parts& p = *parts_;
  const Json counters = Json::parse(checkpoint.state).at("engine");
  for (const ParameterSlot& slot : p.policy.slots()) {
    read_into(checkpoint, "model", slot.name, Policy::view(p.policy.weights(), slot));
    read_into(checkpoint, "optim", "exp_avg." + slot.name,
              Policy::view(p.ppo.optimiser().exp_avg(), slot));
    read_into(checkpoint, "optim", "exp_avg_sq." + slot.name,
              Policy::view(p.ppo.optimiser().exp_avg_sq(), slot));
  }
  p.policy.weights_changed();
  p.policy.set_version(counters.at("updates"));
  p.ppo.optimiser().set_num_steps(counters.at("optimiser_steps"));
  load_shared(checkpoint, *p.envs);
  load_envs(checkpoint, *p.envs);

  const auto& model = checkpoint.tensors.at("model").tensors();
  const bool normalised = std::any_of(model.begin(), model.end(), [](const TensorView& view) {
    return view.name == "normaliser.obs";
  });
  if (normalised != p.config.normalise.obs) {
    throw DataError("checkpoint: normalise.obs is not what the run was started with");
  }
  Sampler::State state;
  state.position = counters.at("position");
  state.steps_per_env = counters.at("steps_per_env");
  if (p.config.normalise.obs) {
    state.obs_moments = read(checkpoint, "model", "normaliser.obs");
    state.obs_tally = read(checkpoint, "envs", "tally.obs");
  }
  state.carry_obs = read(checkpoint, "envs", "carry.obs");
  if (p.buffer.legal.defined()) { state.carry_legal = read(checkpoint, "envs", "carry.legal"); }
  state.reward_moments = read(checkpoint, "envs", "reward.moments");
  state.reward_returns = read(checkpoint, "envs", "reward.returns");
  state.episodes = read(checkpoint, "envs", "episodes");
  if (state.position > 0) {
    for (const auto& [name, tensor] : p.buffer.tensors()) {
      read_into(checkpoint, "envs", "rollout." + name, tensor);
    }
  }
  p.sampler.load(state);
}

}  // namespace penstock
