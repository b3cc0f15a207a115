#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>

#include "core/algo/gradients.h"
#include "penstock/core/algo/ppo.h"
#include "penstock/core/nn/action_terms.h"

// Shapes: T steps, N envs, B samples of a part, F features, A alternatives, D action numbers.

namespace penstock::detail {
namespace {

enum Sum : std::int64_t { kPolicy, kValue, kEntropy, kKl, kClipped, kTotal, kNumSums };

at::Tensor scalar_or_zero(const at::Tensor& x, const at::Tensor& like) {
  return x.defined() ? x.detach() : at::zeros({}, like.options());
}

/// The rollout as one list of samples, on the policy's device: sample t * N + n.
struct Samples {
  at::Tensor obs;        // [T * N, F]
  at::Tensor legal;      // [T * N, A] or undefined
  at::Tensor actions;    // [T * N, D]
  at::Tensor log_prob;   // [T * N]
  at::Tensor value;      // [T * N]
  at::Tensor advantage;  // [T * N]
  at::Tensor target;     // [T * N]

  Samples() = default;
  Samples(const Fragment& rollout, const Targets& targets, at::Device device) {
    const std::int64_t count = rollout.num_samples();
    const auto rows = [&](const at::Tensor& x) {
      return x.narrow(0, 0, rollout.num_steps()).reshape({count, -1}).to(device);
    };
    const auto column = [&](const at::Tensor& x) { return rows(x).view({count}); };
    obs = rows(rollout.obs);
    if (rollout.legal.defined()) { legal = rows(rollout.legal); }
    actions = rows(rollout.actions);
    log_prob = column(rollout.log_prob);
    value = column(rollout.value);
    advantage = column(targets.advantage);
    target = column(targets.value);
  }
};

class EagerGradients final : public Gradients {
 public:
  EagerGradients(Policy& policy, const ActionHead& head)
      : policy_(policy),
        head_(head),
        rows_per_piece_(rows_per_piece(policy.replica(0))),
        sums_(policy.num_shards()),
        before_(policy.num_shards()) {}

  /// Step by step: the envs of a shard at once.
  void judge(const Fragment& rollout, std::size_t shard, EnvRange range,
             const Judgement& into) override {
    const c10::NoGradGuard no_grad;
    const auto begin = static_cast<std::int64_t>(range.begin);
    const auto count = static_cast<std::int64_t>(range.size());
    const auto put = [&](const at::Tensor& found, const at::Tensor& where, std::int64_t t) {
      where[t].narrow(0, begin, count).copy_(found);
    };
    for (std::int64_t t = 0; t <= rollout.num_steps(); ++t) {
      Observation rows = rollout.obs_tensors(t, range);
      rows.obs = rows.obs.to(policy_.device());
      if (rows.legal.defined()) { rows.legal = rows.legal.to(policy_.device()); }
      const bool acted = t < rollout.num_steps();
      const NetworkOutput out =
          policy_.replica(shard).forward(rows, acted ? Outputs::both : Outputs::value);
      put(out.value, into.value, t);
      if (!acted) { break; }
      const at::Tensor actions = rollout.actions[t].narrow(0, begin, count).to(policy_.device());
      put(action_terms(head_, out.params, actions, rows.legal).log_prob, into.log_prob, t);
    }
  }

  void begin(const Fragment& rollout, const Targets& targets, const PpoLossConfig& loss) override {
    samples_ = Samples(rollout, targets, policy_.device());
    loss_config_ = loss;
    for (at::Tensor& sums : sums_) { sums = at::zeros({kNumSums}, samples_.value.options()); }
  }

  void compute(const MinibatchPart& part) override {
    policy_.gradient(part.shard).zero_();
    before_[part.shard] = sums_[part.shard].clone();
    MinibatchPart piece = part;
    for (std::size_t first = 0; first < part.samples.size(); first += rows_per_piece_) {
      piece.samples =
          part.samples.subspan(first, std::min(rows_per_piece_, part.samples.size() - first));
      add_piece(piece);
    }
  }

  [[nodiscard]] UpdateSums sums(std::size_t shard) const override {
    return to_sums(sums_[shard].to(at::kCPU));
  }
  [[nodiscard]] bool loss_is_finite(std::size_t shard) const override {
    return !policy_.device().is_cpu() || std::isfinite(sums_[shard].data_ptr<float>()[kTotal]);
  }
  UpdateSums take_back(std::size_t shard) override {
    const UpdateSums with = sums(shard);
    sums_[shard] = before_[shard];
    return with.minus(sums(shard));
  }

 private:
  static UpdateSums to_sums(const at::Tensor& all) {
    const float* x = all.data_ptr<float>();
    return {x[kPolicy], x[kValue], x[kEntropy], x[kKl], x[kClipped], x[kTotal]};
  }

  void add_piece(const MinibatchPart& piece) {
    const PpoLoss loss = ppo_loss(terms(piece), loss_config_);
    // Each mean counts by its share, so that the gradients add up to the minibatch's.
    const double share = piece.samples.size() / piece.count;
    (loss.total * share).backward();

    const c10::NoGradGuard no_grad;
    const at::Tensor& like = samples_.value;
    sums_[piece.shard].add_(
        at::stack({scalar_or_zero(loss.policy, like), scalar_or_zero(loss.value, like),
                   scalar_or_zero(loss.entropy, like), scalar_or_zero(loss.approx_kl, like),
                   scalar_or_zero(loss.clip_fraction, like), loss.total.detach()}),
        share);
  }

  [[nodiscard]] PpoTerms terms(const MinibatchPart& part) {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): tensors know no const
    const at::Tensor index = at::from_blob(const_cast<std::int64_t*>(part.samples.data()),
                                           {std::ssize(part.samples)}, at::kLong)
                                 .to(policy_.device());
    const auto pick = [&](const at::Tensor& x) { return x.index_select(0, index); };
    const Outputs want = learnt(part.policy, part.value);
    const at::Tensor legal = samples_.legal.defined() ? pick(samples_.legal) : at::Tensor();
    const NetworkOutput out =
        policy_.replica(part.shard).forward({pick(samples_.obs), legal}, want);
    PpoTerms terms;
    if (part.policy) {
      const ActionTerms action = action_terms(head_, out.params, pick(samples_.actions), legal);
      terms.log_prob = action.log_prob;
      terms.entropy = action.entropy;
      terms.old_log_prob = pick(samples_.log_prob);
      terms.advantage =
          pick(samples_.advantage).sub_(part.advantage_mean).mul_(part.advantage_scale);
    }
    if (part.value) {
      terms.value = out.value;
      terms.target = pick(samples_.target);
      if (loss_config_.value_clip > 0) { terms.old_value = pick(samples_.value); }
    }
    return terms;
  }

  Policy& policy_;
  const ActionHead& head_;
  std::size_t rows_per_piece_;
  Samples samples_;
  PpoLossConfig loss_config_;
  std::vector<at::Tensor> sums_;    // per shard [kNumSums]
  std::vector<at::Tensor> before_;  // the last compute(), likewise
};

}  // namespace

std::unique_ptr<Gradients> make_eager_gradients(Policy& policy, const ActionHead& head) {
  return std::make_unique<EagerGradients>(policy, head);
}

}  // namespace penstock::detail

namespace penstock {

std::int64_t rows_per_piece(const Network& network) {
  constexpr std::int64_t kPieceFloats = 64 << 20;
  return std::max<std::int64_t>(1,
                                kPieceFloats / std::max<std::int64_t>(1, network.floats_per_row()));
}

}  // namespace penstock
