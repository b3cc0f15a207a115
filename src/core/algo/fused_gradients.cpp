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
    fused::LossInputs& in = shards_[shard].inputs;
    for_each_chunk(rollout, range, [&](const Chunk& chunk) {
      const Found found = judge_chunk(rollout, chunk, in, mlp);
      for (std::int64_t t = chunk.begin; t < chunk.end; ++t) {
        const std::size_t size = chunk.envs.size();
        const std::size_t first = chunk.row(t);
        std::copy_n(found.value + first, size,
                    rollout.rows<float>(into.value, t, chunk.envs).begin());
        if (t == rollout.num_steps()) { continue; }
        std::copy_n(found.log_prob.begin() + first, size,
                    rollout.rows<float>(into.log_prob, t, chunk.envs).begin());
      }
    });
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
    const fused::LossConfig config = loss_config(part.count);
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

  [[nodiscard]] bool in_one_pass() const override { return true; }

  /// Chunks go back in time, as V-trace does: once the rows of a chunk are judged, all that their
  /// advantages need is known, and the activations are still there to be differentiated.
  void compute_old(const OldRows& rows) override {
    fused::Mlp& mlp = policy_.fused(rows.shard, Outputs::both);
    Shard& shard = shards_[rows.shard];
    const fused::LossConfig config = loss_config(rows.count);
    fused::LossSums sums;
    std::array<float, kChunk> running{};
    mlp.begin_gradient({});
    for_each_chunk(rows.rollout, rows.range, [&](const Chunk& chunk) {
      const Found found = judge_chunk(rows.rollout, chunk, shard.inputs, mlp);
      if (chunk.begin == rows.rollout.num_steps()) {
        running.fill(0);
        std::copy_n(found.value, chunk.envs.size(),
                    rows.rollout.rows<float>(rows.rollout.value, chunk.begin, chunk.envs).begin());
        return;
      }
      for (std::int64_t t = chunk.end - 1; t >= chunk.begin; --t) {
        correct_step(rows, chunk, t, found, running, shard.inputs);
      }
      fused::ppo_loss(head_, shard.inputs, config, {}, chunk.num_rows(), mlp, sums);
      mlp.backward(chunk.num_rows(), {});
    });
    mlp.end_gradient({});
    shard.before = shard.sums;
    count(sums, rows.count, shard.sums);
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

  /// Steps [begin, end) of envs next to each other, one after the other.
  struct Chunk {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    EnvRange envs;

    /// Of the first env at step t.
    [[nodiscard]] std::size_t row(std::int64_t t) const { return (t - begin) * envs.size(); }
    [[nodiscard]] std::size_t num_rows() const { return row(end); }
  };
  /// What the network says of a chunk's rows.
  struct Found {
    std::array<float, kChunk> log_prob;
    const float* value;  // until the network's next pass
  };

  /// From the last step to the first, for envs by envs. The last step, which has no actions, is a
  /// chunk of its own.
  template <class Visit>
  static void for_each_chunk(const Fragment& rollout, EnvRange range, const Visit& visit) {
    for (std::size_t first = range.begin; first < range.end; first += kChunk) {
      const EnvRange envs{first, std::min(first + kChunk, range.end)};
      const auto most = static_cast<std::int64_t>(kChunk / envs.size());
      std::int64_t end = rollout.num_steps();
      visit(Chunk{end, end + 1, envs});
      for (; end > 0; end -= std::min(most, end)) {
        visit(Chunk{end - std::min(most, end), end, envs});
      }
    }
  }

  Found judge_chunk(const Fragment& rollout, const Chunk& chunk, fused::LossInputs& in,
                    fused::Mlp& mlp) const {
    const bool acted = chunk.begin < rollout.num_steps();
    const std::size_t features = mlp.shape().row_size;
    const std::size_t stride = fused::padded(features);
    for (std::int64_t t = chunk.begin; t < chunk.end; ++t) {
      const float* obs = rollout.rows<const float>(rollout.obs, t, chunk.envs).data();
      float* into = mlp.input() + chunk.row(t) * stride;
      for (std::size_t i = 0; i < chunk.envs.size(); ++i) {
        std::copy_n(obs + i * features, features, into + i * stride);
      }
      if (acted) { gather_actions(rollout, t, chunk, in); }
    }
    mlp.forward(chunk.num_rows(), {.actor = acted, .critic = true});
    Found found{.log_prob = {}, .value = mlp.value()};
    if (acted) { fused::log_prob(head_, in, chunk.num_rows(), mlp, found.log_prob.data()); }
    return found;
  }

  void gather_actions(const Fragment& rollout, std::int64_t t, const Chunk& chunk,
                      fused::LossInputs& in) const {
    float* into = in.actions.data() + chunk.row(t);
    const auto put = [&](auto actions) {
      for (std::size_t k = 0; k < actions.size(); ++k) {
        into[k % head_.dims * kChunk + k / head_.dims] = static_cast<float>(actions[k]);
      }
    };
    if (rollout.continuous()) {
      put(rollout.rows<const float>(rollout.actions, t, chunk.envs));
    } else {
      put(rollout.rows<const std::int64_t>(rollout.actions, t, chunk.envs));
    }
    if (!head_.masked) { return; }
    const auto legal = rollout.rows<const bool>(rollout.legal, t, chunk.envs);
    float* masks = in.legal.data() + chunk.row(t);
    for (std::size_t k = 0; k < legal.size(); ++k) {
      masks[k % num_actions_ * kChunk + k / num_actions_] = legal[k] ? 1.0F : 0.0F;
    }
  }

  /// The step's targets, what was judged into the rollout, and all of it into the loss's columns.
  static void correct_step(const OldRows& rows, const Chunk& chunk, std::int64_t t,
                           const Found& found, std::span<float> running, fused::LossInputs& in) {
    const Fragment& rollout = rows.rollout;
    const std::size_t size = chunk.envs.size();
    const std::size_t first = chunk.row(t);
    const auto log_prob = rollout.rows<float>(rollout.log_prob, t, chunk.envs);
    std::array<float, kChunk> ratio;
    for (std::size_t i = 0; i < size; ++i) {
      ratio[i] = std::exp(found.log_prob[first + i] - log_prob[i]);
      log_prob[i] = found.log_prob[first + i];
    }
    std::copy_n(found.value + first, size,
                rollout.rows<float>(rollout.value, t, chunk.envs).begin());
    vtrace_step(rollout, std::span(ratio).first(size), t, chunk.envs, rows.config, running,
                rows.into);
    std::copy_n(log_prob.begin(), size, in.old_log_prob.data() + first);
    std::copy_n(found.value + first, size, in.old_value.data() + first);
    const auto copy = [&](const at::Tensor& from, const fused::AlignedFloats& to) {
      std::ranges::copy(rollout.rows<const float>(from, t, chunk.envs), to.data() + first);
    };
    copy(rows.into.advantage, in.advantage);
    copy(rows.into.value, in.target);
  }

  [[nodiscard]] fused::LossConfig loss_config(double num_samples) const {
    return {.clip = static_cast<float>(loss_config_.clip),
            .value_clip = static_cast<float>(loss_config_.value_clip),
            .value_weight = static_cast<float>(loss_config_.value_weight),
            .entropy_weight = static_cast<float>(loss_config_.entropy_weight),
            .row_weight = static_cast<float>(1.0 / num_samples)};
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
