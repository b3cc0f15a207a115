#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/train/checkpoint_tensors.h"
#include "core/train/engine_parts.h"
#include "core/train/packing.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/json_value.h"
#include "penstock/core/train/run_state.h"

// What a checkpoint holds, file by file:
//   model   the weights by name, and normaliser.obs [F, 3] (count, mean, sum of squared deviations)
//   optim   the learner's state; Adam's moments by name: exp_avg.<name>, exp_avg_sq.<name>
//   envs    the envs' states (bytes, with offsets), the sampler's, and the rollout in flight;
//           behind.<i>.weights and .metrics: versions that the sampler does not act by yet

namespace penstock {
namespace {

constexpr const char* kElsewhere = "elsewhere";    // samplers in other processes
constexpr const char* kActing = "acting.weights";  // the sampler's, with async.sync_every

/// Copies named tensors into a snapshot, over those of the last time where they fit.
class Writer {
 public:
  explicit Writer(Engine::Snapshot& snapshot) : tensors_(snapshot.tensors) {}
  void add(const std::string& file, const std::string& name, const at::Tensor& tensor,
           std::int64_t env_dim = -1) {
    if (!tensor.defined()) { return; }
    if (used_ == tensors_.size()) { tensors_.emplace_back(); }
    Engine::Snapshot::Entry& entry = tensors_[used_++];
    entry.file = file;
    entry.name = name;
    entry.env_dim = env_dim;
    if (!fits(entry.tensor, tensor)) { entry.tensor = at::empty_like(tensor, at::kCPU); }
    sources_.push_back(tensor);
  }
  /// Training waits for this: all threads copy.
  void copy(ThreadPool& pool) {
    tensors_.resize(used_);
    pool.run(used_, [this](std::size_t i) { tensors_[i].tensor.copy_(sources_[i]); });
  }

 private:
  static bool fits(const at::Tensor& kept, const at::Tensor& tensor) {
    return kept.defined() && kept.scalar_type() == tensor.scalar_type() &&
           kept.sizes() == tensor.sizes() && kept.strides() == tensor.strides();
  }

  std::vector<Engine::Snapshot::Entry>& tensors_;
  std::vector<at::Tensor> sources_;
  std::size_t used_ = 0;
};

void require_finite(const Engine::Snapshot::Entry& entry) {
  const bool learnt = entry.file == "model" || entry.file == "optim";
  if (!learnt || !entry.tensor.is_floating_point() || entry.tensor.isfinite().all().item<bool>()) {
    return;
  }
  throw Error(
      Exit::failed,
      fmt::format("'{}' is not finite, so no checkpoint is made of it; the last one is from "
                  "before: resume it with a lower learning_rate or a max_grad_norm",
                  entry.name));
}

/// Of a tensor with a row for each env of the run, those of this process.
at::Tensor own_rows(const at::Tensor& tensor, std::int64_t dim, const EnvSlice& slice) {
  if (tensor.dim() <= dim || tensor.size(dim) != static_cast<std::int64_t>(slice.total())) {
    throw DataError("checkpoint: it is of another number of envs");
  }
  return tensor.narrow(dim, static_cast<std::int64_t>(slice.first),
                       static_cast<std::int64_t>(slice.count));
}

/// A learner's state has the names and shapes of a fresh one's.
void load_learner(const Checkpoint& checkpoint, const detail::Counters& counters,
                  const EnvSlice& slice, Learner& learner) {
  LearnerState state = learner.save();
  for (LearnerState::Entry& entry : state.tensors) {
    const at::Tensor fresh = entry.tensor;
    entry.tensor = detail::read_tensor(checkpoint, entry.file, entry.name);
    if (entry.by_env) { entry.tensor = own_rows(entry.tensor, 0, slice).contiguous(); }
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
  snapshot.env_bytes.clear();
  for (std::size_t i = 0; i < envs.num_envs(); ++i) {
    envs.save(i, snapshot.env_bytes);
    *offset++ = snapshot.env_bytes.size();
  }
  writer.add("envs", "env.offsets", offsets, 0);
  snapshot.shared_bytes = save_shared(envs);
}

TensorView bytes_view(const char* name, std::span<const std::byte> bytes) {
  return {.name = name, .dtype = Dtype::u8, .shape = {std::ssize(bytes)}, .data = bytes};
}

void load_envs(const Checkpoint& checkpoint, const EnvSlice& slice, VecEnv& envs) {
  const at::Tensor offsets = detail::read_tensor(checkpoint, "envs", "env.offsets");
  const at::Tensor bytes = detail::read_tensor(checkpoint, "envs", "env.bytes");
  if (offsets.scalar_type() != at::kLong || bytes.scalar_type() != at::kByte ||
      offsets.numel() != static_cast<std::int64_t>(slice.total()) + 1) {
    throw DataError("checkpoint: it is of another number of envs");
  }
  const auto* offset = offsets.data_ptr<std::int64_t>() + slice.first;
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

/// The checkpoint's name says how far it is.
void check_place(const Sampler::State& state, std::size_t num_envs, std::int64_t step) {
  const auto envs = static_cast<std::int64_t>(num_envs);
  if (state.steps_per_env == step / envs && step % envs == 0) { return; }
  throw DataError(fmt::format(
      "checkpoint {}: state.json: engine.steps_per_env is {} for {} envs; the file is damaged",
      step, state.steps_per_env, envs));
}

at::Tensor bytes_tensor(std::span<const std::byte> bytes) {
  at::Tensor tensor = at::empty({std::ssize(bytes)}, at::kByte);
  std::ranges::copy(bytes, static_cast<std::byte*>(tensor.data_ptr()));
  return tensor;
}

std::string behind_name(std::int64_t i, const char* what) {
  return fmt::format("behind.{}.{}", i, what);
}

at::Tensor weights_of(const PolicyModel& model) {
  return at::tensor(at::ArrayRef<float>(model.weights(), model.shape().num_floats));
}

/// The version that the sampler acts by and those after it, but for the newest, which is the
/// model's; and what is to be told of each update between them.
void add_behind(const LearnerThread& aside, const PolicyModel* acting, Writer& writer) {
  std::int64_t i = 0;
  for (const Learnt& learnt : aside.ready()) {
    writer.add("envs", behind_name(i, "weights"), weights_of(*acting));
    writer.add("envs", behind_name(i, "metrics"), bytes_tensor(detail::packed(learnt.metrics)));
    acting = learnt.model.get();
    ++i;
  }
}

Metrics read_metrics(const Checkpoint& checkpoint, const std::string& name) {
  const at::Tensor bytes = detail::read_tensor(checkpoint, "envs", name);
  return detail::unpacked<Metrics>(
      {static_cast<const std::byte*>(bytes.data_ptr()), bytes.nbytes()});
}

}  // namespace

bool samples_elsewhere(const Checkpoint& checkpoint) {
  const auto envs = checkpoint.tensors.find("envs");
  if (envs == checkpoint.tensors.end()) { return false; }
  return std::ranges::any_of(envs->second.tensors(),
                             [](const TensorView& tensor) { return tensor.name == kElsewhere; });
}

void Engine::snapshot(Snapshot& into) const {
  Writer writer(into);
  Parts& p = *parts_;
  p.settle();
  for (const ParameterSlot& slot : p.policy.slots()) {
    writer.add("model", slot.name, Policy::view(p.policy.weights(), slot));
  }
  const LearnerState learner = p.learner->save();
  for (const LearnerState::Entry& entry : learner.tensors) {
    writer.add(entry.file, entry.name, entry.tensor, entry.by_env ? 0 : -1);
  }
  const FragmentSource::State sampler = p.source->save();
  writer.add("model", "normaliser.obs", sampler.obs_moments);
  writer.add("envs", "carry.obs", sampler.carry_obs, 0);
  writer.add("envs", "carry.legal", sampler.carry_legal, 0);
  writer.add("envs", "tally.obs", sampler.obs_tally, 0);
  writer.add("envs", "episodes", sampler.episodes, 0);
  writer.add("envs", kElsewhere, sampler.elsewhere);
  if (p.sampler != nullptr) {
    add_envs(*p.envs, into, writer);
  } else {
    into.env_bytes.clear();
  }
  if (sampler.position > 0) {
    for (const auto& [name, tensor] : p.buffer().tensors()) {
      writer.add("envs", "rollout." + name, tensor, 1);
    }
  }
  if (p.aside) { add_behind(*p.aside, p.acting.get(), writer); }
  if (p.async.sync_every > 1) { writer.add("envs", kActing, weights_of(*p.acting)); }
  writer.copy(p.pool);
  Json counters = learner.counters;
  counters["position"] = sampler.position;
  counters["steps_per_env"] = sampler.steps_per_env;
  counters["updates"] = p.policy.version();
  if (p.aside) { counters["behind"] = p.aside->num_pending(); }
  if (p.async.sync_every > 1) { counters["acting"] = p.acting->version(); }
  into.counters = to_text(counters);
}

CheckpointData Engine::Snapshot::data() {
  CheckpointData data;
  for (Entry& entry : tensors) {
    require_finite(entry);
    entry.rows = entry.tensor.contiguous();
    data.tensors[entry.file].push_back(detail::view_of(entry.name, entry.rows));
  }
  data.tensors["envs"].push_back(bytes_view("env.bytes", env_bytes));
  if (!shared_bytes.empty()) {
    data.tensors["envs"].push_back(bytes_view("env.shared", shared_bytes));
  }
  return data;
}

void Engine::start_from(const Checkpoint& checkpoint) {
  Parts& p = *parts_;
  detail::check_normalised(checkpoint, p.config.normalise.obs);
  if (p.config.normalise.obs) {
    p.sampler->begin_with(detail::read_moments(checkpoint, p.envs->spec().obs.size()));
  }
  detail::read_weights(checkpoint, p.policy);
  p.act_by(p.publish());
}

void Engine::set_weights(const std::map<std::string, at::Tensor>& weights) {
  Parts& p = *parts_;
  while (num_behind() > 0) { catch_up(); }
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
  p.act_by(p.publish());
}

/// The versions that a run of async.max_lag > 0 still needs, oldest first.
void Engine::restore_versions(const Checkpoint& checkpoint,
                              const std::map<std::string, std::int64_t>& counters) {
  Parts& p = *parts_;
  const std::int64_t newest = detail::counter(counters, "updates");
  const std::int64_t behind = p.aside ? detail::counter(counters, "behind") : 0;
  if (behind > std::min(newest, p.lag)) {
    throw DataError(fmt::format(
        "checkpoint: state.json: engine.behind is {} at update {} with async.max_lag = {}", behind,
        newest, p.async.max_lag));
  }
  p.num_updates = newest - behind;
  if (p.async.sync_every > 1) {
    const std::int64_t acting = detail::counter(counters, "acting");
    detail::read_into(checkpoint, "envs", kActing, p.policy.weights());
    p.policy.weights_changed();
    p.policy.set_version(acting);
    p.act_by(p.publish());
  }
  for (std::int64_t i = 0; i <= behind; ++i) {
    if (i == behind) {
      detail::read_weights(checkpoint, p.policy);
    } else {
      detail::read_into(checkpoint, "envs", behind_name(i, "weights"), p.policy.weights());
      p.policy.weights_changed();
    }
    p.policy.set_version(newest - behind + i);
    if (i == 0) {
      if (p.async.sync_every == 1) { p.act_by(p.publish()); }
    } else {
      p.aside->put({.metrics = read_metrics(checkpoint, behind_name(i - 1, "metrics")),
                    .skipped = {},
                    .model = p.publish(),
                    .failure = {}});
    }
  }
}

void Engine::restore(const Checkpoint& checkpoint) {
  Parts& p = *parts_;
  if (p.sampler != nullptr && samples_elsewhere(checkpoint)) {
    throw DataError(
        "the run has samplers in other processes, and goes on with them: penstock.ray.resume() of "
        "Python");
  }
  const auto counters = detail::counters_of(checkpoint);
  restore_versions(checkpoint, counters);
  const EnvSlice slice = p.shards.slice();
  load_learner(checkpoint, counters, slice, *p.learner);
  detail::check_normalised(checkpoint, p.config.normalise.obs);
  FragmentSource::State state;
  state.position = detail::counter(counters, "position");
  state.steps_per_env = detail::counter(counters, "steps_per_env");
  check_place(state, slice.total(), checkpoint.step);
  const auto rows = [&](const std::string& name, std::int64_t dim) {
    return own_rows(detail::read_tensor(checkpoint, "envs", name), dim, slice);
  };
  if (state.position > 0) {
    for (const auto& [name, tensor] : p.buffer().tensors()) {
      detail::copy_into(rows("rollout." + name, 1), "envs", "rollout." + name, tensor);
    }
  }
  if (p.sampler == nullptr) {
    state.elsewhere = detail::read_tensor(checkpoint, "envs", kElsewhere);
    p.source->load(state);
    return;
  }
  load_shared(*p.envs, detail::shared_bytes(checkpoint));
  load_envs(checkpoint, slice, *p.envs);
  if (p.config.normalise.obs) {
    state.obs_moments = detail::read_tensor(checkpoint, "model", "normaliser.obs");
    state.obs_tally = detail::read_tensor(checkpoint, "envs", "tally.obs");
  }
  state.carry_obs = rows("carry.obs", 0);
  if (p.buffer().legal.defined()) { state.carry_legal = rows("carry.legal", 0); }
  state.episodes = detail::read_tensor(checkpoint, "envs", "episodes");
  p.source->load(state);
}

}  // namespace penstock
