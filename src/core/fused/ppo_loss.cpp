#include "penstock/core/fused/ppo_loss.h"

#include "core/fused/targets.h"
// Compiles the rest of this file once per instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/fused/ppo_loss.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>
#include <numbers>

#include "core/fused/math-inl.h"

// Everything stands by columns of kChunk rows: one vector holds the same number of several rows.

HWY_BEFORE_NAMESPACE();
namespace penstock::fused::HWY_NAMESPACE {

using Tag = hn::CappedTag<float, kPad>;
using Vec = hn::Vec<Tag>;
using Mask = hn::Mask<Tag>;
constexpr Tag kTag;
constexpr std::size_t kLanes = HWY_LANES(float) < kPad ? HWY_LANES(float) : kPad;
constexpr std::size_t kColumn = Mlp::kChunk;

// Finite, because 0 * log 0 must stay 0 in the entropy; far enough that exp() of it is 0.
constexpr float kIllegal = -1e9F;

HWY_INLINE Vec set(float x) { return hn::Set(kTag, x); }
HWY_INLINE Vec load(const float* x) { return hn::Load(kTag, x); }

/// Some rows of a chunk, and what the policy says of them.
struct Judged {
  const Head& head;
  const LossInputs& in;
  const Mlp& mlp;
  std::size_t first;
};

/// Some rows of a chunk that are learnt.
struct Rows : Judged {
  const LossConfig& config;
  Mask real;  // rows that are samples, not padding

  HWY_INLINE Vec only_real(Vec x) const { return hn::IfThenElseZero(real, x); }
  HWY_INLINE double total(Vec x) const { return hn::GetLane(hn::SumOfLanes(kTag, only_real(x))); }
};

/// Adds the surrogate's sums; gives its gradient by the log-probability, times row_weight.
HWY_INLINE Vec surrogate(const Rows& rows, Vec log_prob, Vec entropy, LossSums& sums) {
  const Vec advantage = load(rows.in.advantage.data() + rows.first);
  const Vec log_ratio = hn::Sub(log_prob, load(rows.in.old_log_prob.data() + rows.first));
  const Vec ratio = hn::Exp(kTag, log_ratio);
  const Vec low = set(1.0F - rows.config.clip);
  const Vec high = set(1.0F + rows.config.clip);
  const Vec plain = hn::Mul(ratio, advantage);
  const Vec trusted = hn::Mul(hn::Min(hn::Max(ratio, low), high), advantage);
  const Mask inside = hn::And(hn::Ge(ratio, low), hn::Le(ratio, high));
  const Mask moves = hn::Or(inside, hn::Lt(plain, trusted));
  const Vec drift = hn::Sub(ratio, set(1.0F));
  sums.policy -= rows.total(hn::Min(plain, trusted));
  sums.entropy += rows.total(entropy);
  sums.kl += rows.total(hn::Sub(drift, log_ratio));
  sums.clipped +=
      rows.total(hn::IfThenElseZero(hn::Gt(hn::Abs(drift), set(rows.config.clip)), set(1.0F)));
  const Vec gradient = hn::Mul(plain, set(-rows.config.row_weight));
  return rows.only_real(hn::IfThenElseZero(moves, gradient));
}

/// One softmax among the head's.
struct Choice {
  const float* logits;  // [n, kColumn]
  const float* legal;   // [n, kColumn] or null
  std::size_t n;

  HWY_INLINE Vec logit(std::size_t a) const {
    const Vec z = load(logits + a * kColumn);
    if (legal == nullptr) { return z; }
    return hn::IfThenElse(hn::Gt(load(legal + a * kColumn), hn::Zero(kTag)), z, set(kIllegal));
  }
};

HWY_INLINE Choice choice_at(const Judged& rows, std::size_t offset, std::size_t n) {
  const std::size_t start = offset * kColumn + rows.first;
  return {rows.mlp.params() + start, rows.head.masked ? rows.in.legal.data() + start : nullptr, n};
}

struct ChoiceTerms {
  Vec log_prob;
  Vec entropy;
  Vec log_total;  // log sum exp of the logits
};

/// Leaves the probabilities in `probability`.
HWY_INLINE ChoiceTerms evaluate(const Choice& choice, Vec action, float* probability) {
  Vec top = choice.logit(0);
  for (std::size_t a = 1; a < choice.n; ++a) { top = hn::Max(top, choice.logit(a)); }
  Vec total = hn::Zero(kTag);
  for (std::size_t a = 0; a < choice.n; ++a) {
    const Vec weight = hn::Exp(kTag, hn::Sub(choice.logit(a), top));
    hn::Store(weight, kTag, probability + a * kColumn);
    total = hn::Add(total, weight);
  }
  const Vec log_total = hn::Add(top, hn::Log(kTag, total));
  const Vec scale = hn::Div(set(1.0F), total);
  Vec log_prob = hn::Zero(kTag);
  Vec entropy = hn::Zero(kTag);
  for (std::size_t a = 0; a < choice.n; ++a) {
    const Vec p = hn::Mul(load(probability + a * kColumn), scale);
    const Vec log_p = hn::Sub(choice.logit(a), log_total);
    hn::Store(p, kTag, probability + a * kColumn);
    entropy = hn::NegMulAdd(p, log_p, entropy);
    const Mask chosen = hn::Eq(action, set(a));
    log_prob = hn::IfThenElse(chosen, log_p, log_prob);
  }
  return {log_prob, entropy, log_total};
}

/// As evaluate() has it, alone.
HWY_INLINE Vec choice_log_prob(const Choice& choice, Vec action) {
  Vec top = choice.logit(0);
  for (std::size_t a = 1; a < choice.n; ++a) { top = hn::Max(top, choice.logit(a)); }
  Vec total = hn::Zero(kTag);
  Vec chosen = hn::Zero(kTag);
  for (std::size_t a = 0; a < choice.n; ++a) {
    const Vec logit = choice.logit(a);
    total = hn::Add(total, hn::Exp(kTag, hn::Sub(logit, top)));
    chosen = hn::IfThenElse(hn::Eq(action, set(a)), logit, chosen);
  }
  return hn::Sub(chosen, hn::Add(top, hn::Log(kTag, total)));
}

HWY_INLINE Vec categorical_log_prob(const Judged& rows) {
  Vec log_prob = hn::Zero(kTag);
  std::size_t offset = 0;
  for (std::size_t d = 0; d < rows.head.choices.size(); ++d) {
    const std::size_t n = rows.head.choices[d];
    const Vec action = load(rows.in.actions.data() + d * kColumn + rows.first);
    log_prob = hn::Add(log_prob, choice_log_prob(choice_at(rows, offset, n), action));
    offset += n;
  }
  return log_prob;
}

/// From the probabilities in `delta` to the logits' gradient there.
HWY_INLINE void differentiate(const Choice& choice, Vec action, Vec slope, Vec entropy,
                              Vec log_total, Vec entropy_weight, float* delta) {
  for (std::size_t a = 0; a < choice.n; ++a) {
    const Vec p = load(delta + a * kColumn);
    const Mask chosen = hn::Eq(action, set(a));
    const Vec hit = hn::IfThenElseZero(chosen, set(1.0F));
    const Vec log_p = hn::Sub(choice.logit(a), log_total);
    const Vec bonus = hn::Mul(hn::Mul(entropy_weight, p), hn::Add(log_p, entropy));
    hn::Store(hn::MulAdd(slope, hn::Sub(hit, p), bonus), kTag, delta + a * kColumn);
  }
}

HWY_INLINE void categorical_rows(const Rows& rows, float* deltas, LossSums& sums) {
  const std::size_t num_choices = rows.head.choices.size();
  float* entropies = rows.in.scratch.data() + rows.first;
  float* log_totals = entropies + num_choices * kColumn;
  Vec log_prob = hn::Zero(kTag);
  Vec entropy = hn::Zero(kTag);
  std::size_t offset = 0;
  for (std::size_t d = 0; d < num_choices; ++d) {
    const std::size_t n = rows.head.choices[d];
    const Vec action = load(rows.in.actions.data() + d * kColumn + rows.first);
    const ChoiceTerms terms =
        evaluate(choice_at(rows, offset, n), action, deltas + offset * kColumn + rows.first);
    log_prob = hn::Add(log_prob, terms.log_prob);
    entropy = hn::Add(entropy, terms.entropy);
    hn::Store(terms.entropy, kTag, entropies + d * kColumn);
    hn::Store(terms.log_total, kTag, log_totals + d * kColumn);
    offset += n;
  }
  const Vec slope = surrogate(rows, log_prob, entropy, sums);
  const Vec entropy_weight =
      rows.only_real(set(rows.config.entropy_weight * rows.config.row_weight));
  offset = 0;
  for (std::size_t d = 0; d < num_choices; ++d) {
    const std::size_t n = rows.head.choices[d];
    const Vec action = load(rows.in.actions.data() + d * kColumn + rows.first);
    differentiate(choice_at(rows, offset, n), action, slope, load(entropies + d * kColumn),
                  load(log_totals + d * kColumn), entropy_weight,
                  deltas + offset * kColumn + rows.first);
    offset += n;
  }
}

/// log |d tanh(u) / du|, stable for large |u|.
HWY_INLINE Vec log_slope(Vec u) {
  const Vec two_u = hn::Add(u, u);
  const Vec tail = hn::Log1p(kTag, hn::Exp(kTag, hn::Neg(hn::Abs(two_u))));
  const Vec softplus = hn::Add(hn::Max(hn::Neg(two_u), hn::Zero(kTag)), tail);
  const Vec half = hn::Sub(set(std::numbers::ln2_v<float>), hn::Add(u, softplus));
  return hn::Add(half, half);
}

// Not a variable: its initialiser would be compiled for this instruction set, and run on any
// machine.
HWY_INLINE float half_log_2pi() { return 0.5F * std::log(2 * std::numbers::pi_v<float>); }

HWY_INLINE Vec gaussian_log_prob(const Judged& rows) {
  const float* log_std = rows.mlp.log_std();
  Vec log_prob = set(-rows.head.squash_log_scale);
  for (std::size_t d = 0; d < rows.head.dims; ++d) {
    const Vec action = load(rows.in.actions.data() + d * kColumn + rows.first);
    const Vec mean = load(rows.mlp.params() + d * kColumn + rows.first);
    const Vec z = hn::Mul(hn::Sub(action, mean), set(std::exp(-log_std[d])));
    log_prob = hn::MulAdd(hn::Mul(z, z), set(-0.5F), log_prob);
    log_prob = hn::Sub(log_prob, set(log_std[d] + half_log_2pi()));
    if (rows.head.squash) { log_prob = hn::Sub(log_prob, log_slope(action)); }
  }
  return log_prob;
}

HWY_INLINE void gaussian_rows(const Rows& rows, float* deltas, LossSums& sums) {
  const std::size_t dims = rows.head.dims;
  const float* log_std = rows.mlp.log_std();
  float entropy = 0;
  for (std::size_t d = 0; d < dims; ++d) { entropy += log_std[d] + 0.5F + half_log_2pi(); }
  const Vec slope = surrogate(rows, gaussian_log_prob(rows), set(entropy), sums);
  const float bonus = rows.config.entropy_weight * rows.config.row_weight;
  for (std::size_t d = 0; d < dims; ++d) {
    const Vec action = load(rows.in.actions.data() + d * kColumn + rows.first);
    const Vec mean = load(rows.mlp.params() + d * kColumn + rows.first);
    const Vec inverse = set(std::exp(-log_std[d]));
    const Vec z = hn::Mul(hn::Sub(action, mean), inverse);
    hn::Store(hn::Mul(slope, hn::Mul(z, inverse)), kTag, deltas + d * kColumn + rows.first);
    const Vec by_log_std = hn::Sub(hn::Mul(slope, hn::MulSub(z, z, set(1.0F))), set(bonus));
    rows.mlp.log_std_gradient()[d] += static_cast<float>(rows.total(by_log_std));
  }
}

HWY_INLINE void value_rows(const Rows& rows, float* deltas, LossSums& sums) {
  const Vec value = load(rows.mlp.value() + rows.first);
  const Vec target = load(rows.in.target.data() + rows.first);
  const Vec error = hn::Sub(value, target);
  const Vec weight = set(2 * rows.config.value_weight * rows.config.row_weight);
  Vec loss = hn::Mul(error, error);
  Vec slope = hn::Mul(error, weight);
  if (rows.config.value_clip > 0) {
    const Vec bound = set(rows.config.value_clip);
    const Vec old = load(rows.in.old_value.data() + rows.first);
    const Vec step = hn::Sub(value, old);
    const Vec held = hn::Add(old, hn::Max(hn::Min(step, bound), hn::Neg(bound)));
    const Vec held_error = hn::Sub(held, target);
    const Vec held_loss = hn::Mul(held_error, held_error);
    const Mask inside = hn::Le(hn::Abs(step), bound);
    // Where both losses are equal, autograd gives each of them half of the gradient.
    const Vec share = hn::IfThenElse(hn::Gt(loss, held_loss), set(1.0F),
                                     hn::IfThenElseZero(hn::Eq(loss, held_loss), set(0.5F)));
    slope = hn::Mul(slope, hn::IfThenElse(inside, set(1.0F), share));
    loss = hn::Max(loss, held_loss);
  }
  sums.value += rows.total(loss);
  hn::Store(rows.only_real(slope), kTag, deltas + rows.first);
}

void ppo_loss(const Head& head, const LossInputs& in, const LossConfig& config, Parts parts,
              std::size_t num_rows, Mlp& mlp, LossSums& sums) {
  for (std::size_t first = 0; first < num_rows; first += kLanes) {
    const Rows rows{{head, in, mlp, first}, config, hn::FirstN(kTag, num_rows - first)};
    if (parts.actor && head.choices.empty()) { gaussian_rows(rows, mlp.params_delta(), sums); }
    if (parts.actor && !head.choices.empty()) { categorical_rows(rows, mlp.params_delta(), sums); }
    if (parts.critic) { value_rows(rows, mlp.value_delta(), sums); }
  }
}

void log_prob(const Head& head, const LossInputs& in, std::size_t num_rows, const Mlp& mlp,
              float* into) {
  for (std::size_t first = 0; first < num_rows; first += kLanes) {
    const Judged rows{head, in, mlp, first};
    const Vec found = head.choices.empty() ? gaussian_log_prob(rows) : categorical_log_prob(rows);
    hn::StoreU(found, kTag, into + first);
  }
}

}  // namespace penstock::fused::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::fused {

LossInputs::LossInputs(const Head& head) {
  std::size_t alternatives = 0;
  for (const std::size_t n : head.choices) { alternatives += n; }
  const auto columns = [](std::size_t n) { return AlignedFloats(n * Mlp::kChunk); };
  actions = columns(head.dims);
  legal = columns(head.masked ? alternatives : 0);
  old_log_prob = columns(1);
  advantage = columns(1);
  target = columns(1);
  old_value = columns(1);
  scratch = columns(2 * head.dims);
}

HWY_EXPORT(ppo_loss);
HWY_EXPORT(log_prob);

void log_prob(const Head& head, const LossInputs& inputs, std::size_t rows, const Mlp& mlp,
              float* into) {
  HWY_DYNAMIC_DISPATCH(log_prob)(head, inputs, rows, mlp, into);
}

void ppo_loss(const Head& head, const LossInputs& inputs, const LossConfig& config, Parts parts,
              std::size_t rows, Mlp& mlp, LossSums& sums) {
  HWY_DYNAMIC_DISPATCH(ppo_loss)(head, inputs, config, parts, rows, mlp, sums);
}

}  // namespace penstock::fused
#endif  // HWY_ONCE
