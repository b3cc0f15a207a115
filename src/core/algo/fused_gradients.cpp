#include <algorithm>
#include <array>
#include <cmath>

#include "core/algo/gradients.h"
#include "penstock/core/base/check.h"

// Shapes: T steps, N envs, R rows of a chunk, F features, A alternatives, D action numbers.

namespace penstock::detail {
namespace {

constexpr std::size_t kChunk = fused::Mlp::kChunk;

/// The rollout's memory as lists of samples.
struct SampleLists {
  const float* obs = nullptr;             // [T * N, F]
  const bool* legal = nullptr;            // [T * N, A]
  const std::int64_t* choices = nullptr;  // [T * N, D], one of the two
  const float* points = nullptr;
  const float* log_prob = nullptr;   // [T * N]
  const float* value = nullptr;      // [T * N]
  const float* advantage = nullptr;  // [T * N]
  const float* target = nullptr;     // [T * N]

  SampleLists() = default;
  SampleLists(const Fragment& rollout, const Targets& targets)
      : obs(rollout.obs.data_ptr<float>()),
        legal(rollout.legal.defined() ? rollout.legal.data_ptr<bool>() : nullptr),
        choices(rollout.continuous() ? nullptr : rollout.actions.data_ptr<std::int64_t>()),
        points(rollout.continuous() ? rollout.actions.data_ptr<float>() : nullptr),
        log_prob(rollout.log_prob.data_ptr<float>()),
        value(rollout.value.data_ptr<float>()),
        advantage(targets.advantage.data_ptr<float>()),
        target(targets.value.data_ptr<float>()) {}
};

class FusedGradients final : public Gradients {
 public:
  FusedGradients(Policy& policy, const ActionHead& head)
      : policy_(policy), head_(head.fused()), num_actions_(head.num_params()) {
    for (std::size_t s = 0; s < policy.num_shards(); ++s) {
      shards_.push_back({fused::LossInputs(head_), {}});
    }
  }

  void judge(const Fragment& rollout, std::size_t shard, EnvRange range,
             const Judgement& into) override {
    fused::Mlp& mlp = policy_.fused(shard, Outputs::both);
    for (std::int64_t t = 0; t <= rollout.num_steps(); ++t) {
      for (std::size_t first = range.begin; first < range.end; first += kChunk) {
        judge_chunk(rollout, t, {first, std::min(first + kChunk, range.end)}, shards_[shard].inputs,
                    mlp, into);
      }
    }
  }

  void begin(const Fragment& rollout, const Targets& targets, const PpoLossConfig& loss) override {
    samples_ = SampleLists(rollout, targets);
    loss_config_ = loss;
    for (Shard& shard : shards_) { shard.sums = {}; }
  }

  void compute(const MinibatchPart& part) override {
    fused::Mlp& mlp = policy_.fused(part.shard, learnt(part.policy, part.value));
    Shard& shard = shards_[part.shard];
    const fused::Parts parts{.actor = part.policy, .critic = part.value};
    const fused::LossConfig config = loss_config(part);
    fused::LossSums sums;
    mlp.begin_gradient(parts);
    for (std::size_t first = 0; first < part.samples.size(); first += kChunk) {
      const std::size_t rows = std::min(kChunk, part.samples.size() - first);
      gather(part, part.samples.subspan(first, rows), mlp, shard.inputs);
      mlp.forward(rows, parts);
      fused::ppo_loss(head_, shard.inputs, config, parts, rows, mlp, sums);
      mlp.backward(rows, parts);
    }
    mlp.end_gradient(parts);
    shard.before = shard.sums;
    count(sums, part.count, shard.sums);
  }

  [[nodiscard]] UpdateSums sums(std::size_t shard) const override { return shards_[shard].sums; }
  [[nodiscard]] bool loss_is_finite(std::size_t shard) const override {
    return std::isfinite(shards_[shard].sums.total);  // sums of finite losses are
  }
  UpdateSums take_back(std::size_t shard) override {
    Shard& x = shards_[shard];
    const UpdateSums last = x.sums.minus(x.before);
    x.sums = x.before;
    return last;
  }

 private:
  struct alignas(64) Shard {
    fused::LossInputs inputs;
    UpdateSums sums;
    UpdateSums before;  // the last compute()
  };

  /// Envs next to each other at step t; the last step has no actions.
  void judge_chunk(const Fragment& rollout, std::int64_t t, EnvRange envs, fused::LossInputs& in,
                   fused::Mlp& mlp, const Judgement& into) const {
    const bool acted = t < rollout.num_steps();
    const std::size_t features = mlp.shape().row_size;
    const std::size_t stride = fused::padded(features);
    const auto obs = rollout.rows<const float>(rollout.obs, t, envs);
    for (std::size_t r = 0; r < envs.size(); ++r) {
      std::copy_n(obs.data() + r * features, features, mlp.input() + r * stride);
    }
    mlp.forward(envs.size(), {.actor = acted, .critic = true});
    std::copy_n(mlp.value(), envs.size(), rollout.rows<float>(into.value, t, envs).begin());
    if (!acted) { return; }
    gather_actions(rollout, t, envs, in);
    std::array<float, kChunk> log_prob;
    fused::log_prob(head_, in, envs.size(), mlp, log_prob.data());
    std::copy_n(log_prob.begin(), envs.size(), rollout.rows<float>(into.log_prob, t, envs).begin());
  }

  void gather_actions(const Fragment& rollout, std::int64_t t, EnvRange envs,
                      fused::LossInputs& in) const {
    for (std::size_t k = 0; k < envs.size() * head_.dims; ++k) {
      in.actions.data()[k % head_.dims * kChunk + k / head_.dims] =
          rollout.continuous()
              ? rollout.rows<const float>(rollout.actions, t, envs)[k]
              : static_cast<float>(rollout.rows<const std::int64_t>(rollout.actions, t, envs)[k]);
    }
    if (!head_.masked) { return; }
    const auto legal = rollout.rows<const bool>(rollout.legal, t, envs);
    for (std::size_t k = 0; k < legal.size(); ++k) {
      in.legal.data()[k % num_actions_ * kChunk + k / num_actions_] = legal[k] ? 1.0F : 0.0F;
    }
  }

  [[nodiscard]] fused::LossConfig loss_config(const MinibatchPart& part) const {
    return {.clip = static_cast<float>(loss_config_.clip),
            .value_clip = static_cast<float>(loss_config_.value_clip),
            .value_weight = static_cast<float>(loss_config_.value_weight),
            .entropy_weight = static_cast<float>(loss_config_.entropy_weight),
            .row_weight = static_cast<float>(1.0 / part.count)};
  }

  /// Rows into the network's input, everything else into columns.
  void gather(const MinibatchPart& part, std::span<const std::int64_t> samples, fused::Mlp& mlp,
              fused::LossInputs& in) const {
    const std::size_t features = mlp.shape().row_size;
    const std::size_t stride = fused::padded(features);
    const float mean = part.advantage_mean;
    const float scale = part.advantage_scale;
    for (std::size_t r = 0; r < samples.size(); ++r) {
      const std::size_t i = samples[r];
      std::copy_n(samples_.obs + i * features, features, mlp.input() + r * stride);
      in.old_log_prob.data()[r] = samples_.log_prob[i];
      in.advantage.data()[r] = (samples_.advantage[i] - mean) * scale;
      in.target.data()[r] = samples_.target[i];
      in.old_value.data()[r] = samples_.value[i];
      for (std::size_t d = 0; d < head_.dims; ++d) {
        const std::size_t k = i * head_.dims + d;
        in.actions.data()[d * kChunk + r] =
            samples_.choices != nullptr ? samples_.choices[k] : samples_.points[k];
      }
    }
    if (head_.masked && part.policy) { gather_legal(samples, in); }
  }

  void gather_legal(std::span<const std::int64_t> samples, fused::LossInputs& in) const {
    for (std::size_t r = 0; r < samples.size(); ++r) {
      const bool* legal = samples_.legal + samples[r] * num_actions_;
      for (std::size_t a = 0; a < num_actions_; ++a) {
        in.legal.data()[a * kChunk + r] = legal[a] ? 1.0F : 0.0F;
      }
    }
  }

  void count(const fused::LossSums& sums, double samples, UpdateSums& all) const {
    const UpdateSums means{.policy = sums.policy / samples,
                           .value = sums.value / samples,
                           .entropy = sums.entropy / samples,
                           .kl = sums.kl / samples,
                           .clipped = sums.clipped / samples,
                           .total = (sums.policy - loss_config_.entropy_weight * sums.entropy +
                                     loss_config_.value_weight * sums.value) /
                                    samples};
    all.add(means);
  }

  Policy& policy_;
  fused::Head head_;
  std::size_t num_actions_;
  SampleLists samples_;
  PpoLossConfig loss_config_;
  std::vector<Shard> shards_;
};

}  // namespace

std::unique_ptr<Gradients> make_fused_gradients(Policy& policy, const ActionHead& head) {
  PENSTOCK_CHECK(policy.is_fused(), ==, true);
  return std::make_unique<FusedGradients>(policy, head);
}

}  // namespace penstock::detail
