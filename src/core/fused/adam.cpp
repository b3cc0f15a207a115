#include "penstock/core/fused/adam.h"

#include <limits>

#include "core/fused/targets.h"
// Compiles the rest of this file once per instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/fused/adam.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace penstock::fused::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Tag = hn::ScalableTag<float>;
using Vec = hn::Vec<Tag>;
constexpr Tag kTag;
constexpr std::size_t kLanes = HWY_LANES(float);

/// Whole vectors by `wide`, the last numbers by `single`: both compute the same.
template <class Wide, class Single>
HWY_INLINE void for_each(std::size_t n, const Wide& wide, const Single& single) {
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) { wide(kTag, i); }
  for (; i < n; ++i) { single(hn::CappedTag<float, 1>(), i); }
}

struct AddAt {
  float* HWY_RESTRICT sum;
  const float* HWY_RESTRICT x;

  template <class D>
  HWY_INLINE void operator()(D d, std::size_t i) const {
    hn::StoreU(hn::Add(hn::LoadU(d, sum + i), hn::LoadU(d, x + i)), d, sum + i);
  }
};

void add(float* sum, const float* x, std::size_t n) {
  const AddAt work{sum, x};
  for_each(n, work, work);
}

/// Four running sums: one would wait for itself.
float sum_of_squares(const float* x, std::size_t n) {
  Vec sums[4] = {hn::Zero(kTag), hn::Zero(kTag), hn::Zero(kTag), hn::Zero(kTag)};
  std::size_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
    for (std::size_t k = 0; k < 4; ++k) {
      const Vec v = hn::LoadU(kTag, x + i + k * kLanes);
      sums[k] = hn::MulAdd(v, v, sums[k]);
    }
  }
  const Vec pairs = hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]));
  float total = hn::GetLane(hn::SumOfLanes(kTag, pairs));
  for (; i < n; ++i) { total += x[i] * x[i]; }
  return total;
}

/// Denormal numbers are slow, mean nothing here, and fading never ends them: the smallest is stuck.
template <class D, class V>
HWY_INLINE V without_denormals(D d, V x) {
  constexpr float kSmallest = std::numeric_limits<float>::min();
  return hn::IfThenElseZero(hn::Ge(hn::Abs(x), hn::Set(d, kSmallest)), x);
}

struct StepAt {
  const AdamStep& x;

  template <class D>
  HWY_INLINE void operator()(D d, std::size_t i) const {
    const auto set = [&](float value) HWY_ATTR { return hn::Set(d, value); };
    const auto g = hn::Mul(hn::LoadU(d, x.gradient + i), set(x.scale));
    const auto mean = without_denormals(
        d,
        hn::MulAdd(g, set(x.one_minus_beta1), hn::Mul(hn::LoadU(d, x.exp_avg + i), set(x.beta1))));
    const auto square =
        without_denormals(d, hn::MulAdd(hn::Mul(g, g), set(x.one_minus_beta2),
                                        hn::Mul(hn::LoadU(d, x.exp_avg_sq + i), set(x.beta2))));
    const auto deviation =
        hn::MulAdd(hn::Sqrt(square), set(x.inverse_root_correction2), set(x.epsilon));
    const auto step = hn::Mul(set(x.step_size), hn::Div(mean, deviation));
    hn::StoreU(mean, d, x.exp_avg + i);
    hn::StoreU(square, d, x.exp_avg_sq + i);
    hn::StoreU(hn::Sub(hn::LoadU(d, x.weight + i), step), d, x.weight + i);
  }
};

void adam_step(const AdamStep& x) {
  const StepAt work{x};
  for_each(x.n, work, work);
}

/// Steps between looks at whether anything still moves; and before the first, as the corrections of
/// a run's first steps may make steps grow.
constexpr std::size_t kIdleCheck = 16;

// Why step by step and not in closed form: the sum of m beta1^i / (sqrt(v beta2^i) + epsilon) has
// none. But the three numbers stay in registers for all steps, where single calls of adam_step()
// would read and write them each time; and once no weight of a vector moves, only powers are left.
struct IdleStepsAt {
  const AdamIdleSteps& x;
  bool may_stop;  // steps shrink for good: beta1 fades faster than the root of beta2

  template <class D>
  HWY_INLINE void operator()(D d, std::size_t i) const {
    const auto beta1 = hn::Set(d, x.beta1_power[1]);
    const auto beta2 = hn::Set(d, x.beta2_power[1]);
    auto weight = hn::LoadU(d, x.weight + i);
    auto mean = hn::LoadU(d, x.exp_avg + i);
    auto square = hn::LoadU(d, x.exp_avg_sq + i);
    std::size_t t = 0;
    for (bool moves = true; moves && t < x.num_steps; ++t) {
      mean = hn::Mul(mean, beta1);
      square = hn::Mul(square, beta2);
      const auto deviation = hn::MulAdd(hn::Sqrt(square), hn::Set(d, x.inverse_root_correction2[t]),
                                        hn::Set(d, x.epsilon));
      const auto moved =
          hn::Sub(weight, hn::Mul(hn::Set(d, x.step_size[t]), hn::Div(mean, deviation)));
      if (may_stop && (t + 1) % kIdleCheck == 0) { moves = !hn::AllTrue(d, hn::Eq(moved, weight)); }
      weight = moved;
    }
    const std::size_t rest = x.num_steps - t;
    hn::StoreU(weight, d, x.weight + i);
    hn::StoreU(without_denormals(d, hn::Mul(mean, hn::Set(d, x.beta1_power[rest]))), d,
               x.exp_avg + i);
    hn::StoreU(without_denormals(d, hn::Mul(square, hn::Set(d, x.beta2_power[rest]))), d,
               x.exp_avg_sq + i);
  }
};

void adam_idle_steps(const AdamIdleSteps& x) {
  if (x.num_steps == 0) { return; }
  const float beta1 = x.beta1_power[1];
  const IdleStepsAt work{x, beta1 * beta1 < 0.9F * x.beta2_power[1]};
  for_each(x.n, work, work);
}

}  // namespace penstock::fused::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::fused {

HWY_EXPORT(add);
HWY_EXPORT(sum_of_squares);
HWY_EXPORT(adam_step);
HWY_EXPORT(adam_idle_steps);

void add(float* sum, const float* x, std::size_t n) { HWY_DYNAMIC_DISPATCH(add)(sum, x, n); }
float sum_of_squares(const float* x, std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(sum_of_squares)(x, n);
}
void adam_step(const AdamStep& x) { HWY_DYNAMIC_DISPATCH(adam_step)(x); }
void adam_idle_steps(const AdamIdleSteps& x) { HWY_DYNAMIC_DISPATCH(adam_idle_steps)(x); }

}  // namespace penstock::fused
#endif  // HWY_ONCE
