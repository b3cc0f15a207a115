#include "penstock/core/fused/attention.h"

#include <cmath>

#include "penstock/core/fused/dense.h"

#include "core/fused/targets.h"
// Compiles the rest of this file once per instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/fused/attention.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "core/fused/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace penstock::fused::HWY_NAMESPACE {

using Tag = hn::CappedTag<float, kPad>;
using Vec = hn::Vec<Tag>;
constexpr Tag kTag;
constexpr std::size_t kLanes = HWY_LANES(float) < kPad ? HWY_LANES(float) : kPad;

void softmax(const Softmax& x) {
  for (std::size_t r = 0; r < x.rows; ++r) {
    float* HWY_RESTRICT row = x.x + r * x.width;
    Vec most = hn::Set(kTag, -1e30F);
    for (std::size_t i = 0; i < x.width; i += kLanes) {
      const Vec masked = hn::Add(hn::Load(kTag, row + i), hn::Load(kTag, x.mask + i));
      hn::Store(masked, kTag, row + i);
      most = hn::Max(most, masked);
    }
    most = hn::MaxOfLanes(kTag, most);
    Vec sum = hn::Zero(kTag);
    for (std::size_t i = 0; i < x.width; i += kLanes) {
      const Vec power = hn::Exp(kTag, hn::Sub(hn::Load(kTag, row + i), most));
      hn::Store(power, kTag, row + i);
      sum = hn::Add(sum, power);
    }
    const Vec scale = hn::Div(hn::Set(kTag, 1.0F), hn::SumOfLanes(kTag, sum));
    for (std::size_t i = 0; i < x.width; i += kLanes) {
      hn::Store(hn::Mul(hn::Load(kTag, row + i), scale), kTag, row + i);
    }
  }
}

void rms_norm(const RmsNorm& x) {
  for (std::size_t r = 0; r < x.rows; ++r) {
    const float* HWY_RESTRICT row = x.x + r * x.width;
    float* HWY_RESTRICT out = x.out + r * x.width;
    Vec squares = hn::Zero(kTag);
    for (std::size_t i = 0; i < x.width; i += kLanes) {
      const Vec value = hn::Load(kTag, row + i);
      squares = hn::MulAdd(value, value, squares);
    }
    const float mean = hn::GetLane(hn::SumOfLanes(kTag, squares)) / x.width + x.epsilon;
    const Vec scale = hn::Set(kTag, 1.0F / std::sqrt(mean));
    for (std::size_t i = 0; i < x.width; i += kLanes) {
      const Vec scaled = hn::Mul(hn::Load(kTag, row + i), scale);
      hn::Store(hn::Mul(scaled, hn::Load(kTag, x.weight + i)), kTag, out + i);
    }
  }
}

}  // namespace penstock::fused::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::fused {

HWY_EXPORT(softmax);
HWY_EXPORT(rms_norm);

void softmax(const Softmax& x) { HWY_DYNAMIC_DISPATCH(softmax)(x); }
void rms_norm(const RmsNorm& x) { HWY_DYNAMIC_DISPATCH(rms_norm)(x); }

}  // namespace penstock::fused
#endif  // HWY_ONCE
