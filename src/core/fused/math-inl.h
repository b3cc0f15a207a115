// What hwy/contrib/math lacks, or does more exactly than training needs. Compiled per target.
#if defined(PENSTOCK_FUSED_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PENSTOCK_FUSED_MATH_INL_H_
#undef PENSTOCK_FUSED_MATH_INL_H_
#else
#define PENSTOCK_FUSED_MATH_INL_H_
#endif

#include <cstdint>

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace penstock::fused::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// 2^t - 1 for |t| up to 126. With t = k + f it is 2^k (2^f - 1) + (2^k - 1), and 2^f - 1 is f
/// times a polynomial (minimax, 1.1e-8): no digits are lost near 0.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V power_minus_one(D d, V t) {
  const auto set = [&](float value) HWY_ATTR { return hn::Set(d, value); };
  const hn::Rebind<std::int32_t, D> integer;
  const auto k = hn::NearestInt(t);
  const V f = hn::Sub(t, hn::ConvertTo(d, k));
  V p = set(0.00015403479791228501F);
  p = hn::MulAdd(p, f, set(0.0013390734317163986F));
  p = hn::MulAdd(p, f, set(0.009618237577330508F));
  p = hn::MulAdd(p, f, set(0.05550357437129955F));
  p = hn::MulAdd(p, f, set(0.24022649794612608F));
  p = hn::MulAdd(p, f, set(0.6931471879255778F));
  const V power = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(k, hn::Set(integer, 127))));
  return hn::MulAdd(power, hn::Mul(p, f), hn::Sub(power, set(1.0F)));
}

/// expm1(2 |x|) / (expm1(2 |x|) + 2), within 2 units in the last place. Exact both near 0 and near
/// 1, where the gradients of saturated units depend on 1 - tanh^2.
///
/// Why not 1 - 2 / (exp(2 x) + 1): near 0 it subtracts two numbers close to 1 and loses the digits
/// that small activations consist of. Why not libm: it has no vectors, and its last bits differ
/// between machines.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V tanh(D d, V x) {
  const auto set = [&](float value) HWY_ATTR { return hn::Set(d, value); };
  // Beyond 9.1 the nearest float is 1.
  const V t = hn::Mul(hn::Min(hn::Abs(x), set(9.1F)), set(2.8853900817779268F));
  const V expm1 = power_minus_one(d, t);
  return hn::CopySign(hn::Div(expm1, hn::Add(expm1, set(2.0F))), x);
}

/// x where it is positive, else exp(x) - 1.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V elu(D d, V x) {
  // Below -87 the nearest float to exp(x) - 1 is -1 by far.
  const V t = hn::Mul(hn::Max(hn::Min(x, hn::Zero(d)), hn::Set(d, -87.0F)),
                      hn::Set(d, 1.4426950408889634F));
  return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), x, power_minus_one(d, t));
}

}  // namespace penstock::fused::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // PENSTOCK_FUSED_MATH_INL_H_
