#include "penstock/core/fused/sample.h"

#include "core/fused/targets.h"
// Compiles the rest of this file once per instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/fused/sample.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <numbers>

#include "core/fused/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace penstock::fused::HWY_NAMESPACE {

using Tag = hn::CappedTag<float, 16>;
using Vec = hn::Vec<Tag>;
using Mask = hn::Mask<Tag>;
using Words = hn::Rebind<std::uint32_t, Tag>;
using Signed = hn::Rebind<std::int32_t, Tag>;
constexpr Tag kTag;
constexpr Words kWords;
constexpr Signed kSigned;
constexpr std::size_t kLanes = HWY_LANES(float) < 16 ? HWY_LANES(float) : 16;

constexpr float kIllegal = -1e9F;

HWY_INLINE Vec set(float x) { return hn::Set(kTag, x); }

#if HWY_TARGET == HWY_SCALAR
void random_words(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key,
                  std::size_t rows, std::uint32_t* words) {
  for (std::size_t r = 0; r < rows; ++r) {
    const std::array<std::uint32_t, 4> four = philox(counter, key);
    for (std::size_t w = 0; w < 4; ++w) { words[w * kDrawRows + r] = four[w]; }
    ++counter[2];
  }
}
#else
using U = hn::Vec<Words>;

/// The high halves of 32 x 32 bit products: even lanes and odd ones apart.
HWY_INLINE U multiply_high(U a, U b) {
  const hn::Repartition<std::uint64_t, Words> wide;
  const auto odd = [&](U x) HWY_ATTR {
    return hn::BitCast(kWords, hn::ShiftRight<32>(hn::BitCast(wide, x)));
  };
  const auto even_product = hn::MulEven(a, b);
  const auto odd_product = hn::MulEven(odd(a), odd(b));
  return hn::OddEven(hn::BitCast(kWords, odd_product),
                     hn::BitCast(kWords, hn::ShiftRight<32>(even_product)));
}

/// The function `philox` of penstock/core/base/random.h, many counters at a time.
void random_words(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key,
                  std::size_t rows, std::uint32_t* words) {
  constexpr int kRounds = 10;
  const U multiply0 = hn::Set(kWords, 0xD2511F53);
  const U multiply1 = hn::Set(kWords, 0xCD9E8D57);
  for (std::size_t r = 0; r < rows; r += kLanes) {
    U c0 = hn::Set(kWords, counter[0]);
    U c1 = hn::Set(kWords, counter[1]);
    U c2 = hn::Iota(kWords, counter[2] + static_cast<std::uint32_t>(r));
    U c3 = hn::Set(kWords, counter[3]);
    std::uint32_t key0 = key[0];
    std::uint32_t key1 = key[1];
    for (int round = 0; round < kRounds; ++round) {
      const U low0 = hn::Mul(c0, multiply0);
      const U low1 = hn::Mul(c2, multiply1);
      const U high0 = multiply_high(c0, multiply0);
      const U high1 = multiply_high(c2, multiply1);
      c0 = hn::Xor(hn::Xor(high1, c1), hn::Set(kWords, key0));
      c2 = hn::Xor(hn::Xor(high0, c3), hn::Set(kWords, key1));
      c1 = low1;
      c3 = low0;
      key0 += 0x9E3779B9;
      key1 += 0xBB67AE85;
    }
    hn::StoreU(c0, kWords, words + r);
    hn::StoreU(c1, kWords, words + kDrawRows + r);
    hn::StoreU(c2, kWords, words + 2 * kDrawRows + r);
    hn::StoreU(c3, kWords, words + 3 * kDrawRows + r);
  }
}
#endif

/// [0, 1), 24 bits.
HWY_INLINE Vec uniform(const std::uint32_t* words) {
  const auto bits = hn::ShiftRight<8>(hn::LoadU(kWords, words));
  return hn::Mul(hn::ConvertTo(kTag, hn::BitCast(kSigned, bits)), set(0x1.0p-24F));
}

HWY_INLINE Vec logit(const CategoricalDraw& x, std::size_t a, std::size_t r) {
  const Vec z = hn::LoadU(kTag, x.logits + a * kDrawRows + r);
  if (x.legal == nullptr) { return z; }
  const Vec legal = hn::LoadU(kTag, x.legal + a * kDrawRows + r);
  return hn::IfThenElse(hn::Gt(legal, hn::Zero(kTag)), z, set(kIllegal));
}

/// True in the lanes whose row can be drawn from.
HWY_INLINE Mask draw_rows(const CategoricalDraw& x, std::size_t r) {
  Vec top = logit(x, 0, r);
  Vec best = hn::Zero(kTag);
  Vec sum = top;  // NaN if one of them is: the greatest passes NaN over, and so does Exp
  for (std::size_t a = 1; a < x.n; ++a) {
    const Vec z = logit(x, a, r);
    sum = hn::Add(sum, z);
    const Mask better = hn::Gt(z, top);
    top = hn::IfThenElse(better, z, top);
    best = hn::IfThenElse(better, set(a), best);
  }
  Vec total = hn::Zero(kTag);
  for (std::size_t a = 0; a < x.n; ++a) {
    total = hn::Add(total, hn::Exp(kTag, hn::Sub(logit(x, a, r), top)));
  }
  Vec left = hn::Mul(uniform(x.words + r), total);
  Vec chosen = best;  // rounding may leave a crumb after the last alternative
  Vec chosen_logit = top;
  Mask open = hn::Eq(hn::Zero(kTag), hn::Zero(kTag));
  for (std::size_t a = 0; a < x.n; ++a) {
    const Vec z = logit(x, a, r);
    left = hn::Sub(left, hn::Exp(kTag, hn::Sub(z, top)));
    const Mask hit = hn::And(open, hn::Lt(left, hn::Zero(kTag)));
    chosen = hn::IfThenElse(hit, set(a), chosen);
    chosen_logit = hn::IfThenElse(hit, z, chosen_logit);
    open = hn::AndNot(hit, open);
  }
  const Vec log_prob = hn::Sub(hn::Sub(chosen_logit, top), hn::Log(kTag, total));
  hn::StoreU(chosen, kTag, x.chosen + r);
  hn::StoreU(hn::Add(hn::LoadU(kTag, x.log_prob + r), log_prob), kTag, x.log_prob + r);
  // NaN compares false, also with itself. A sum of -infinity is none: such a logit is never drawn.
  return hn::And(hn::And(hn::Gt(top, set(0.5F * kIllegal)), hn::Eq(sum, sum)),
                 hn::And(hn::Lt(top, set(1e30F)), hn::Lt(total, set(1e30F))));
}

std::size_t draw_categorical(const CategoricalDraw& x) {
  for (std::size_t r = 0; r < x.rows; r += kLanes) {
    const Mask real = hn::FirstN(kTag, x.rows - r);
    const Mask bad = hn::AndNot(draw_rows(x, r), real);
    const std::intptr_t first = hn::FindFirstTrue(kTag, bad);
    if (first >= 0) { return r + first; }
  }
  return kNoRow;
}

void draw_normal(const std::uint32_t* words1, const std::uint32_t* words2, std::size_t rows,
                 float* z) {
  for (std::size_t r = 0; r < rows; r += kLanes) {
    // Never 0, and fine near 0, where the tail comes from.
    const auto bits = hn::ShiftRight<1>(hn::LoadU(kWords, words1 + r));
    const Vec u = hn::Mul(hn::Add(hn::ConvertTo(kTag, hn::BitCast(kSigned, bits)), set(0.5F)),
                          set(0x1.0p-31F));
    const Vec radius = hn::Sqrt(hn::Mul(set(-2.0F), hn::Log(kTag, hn::Min(u, set(1.0F)))));
    // The angle in [-pi, pi), where the cosine is most exact.
    const Vec angle =
        hn::Mul(hn::Sub(uniform(words2 + r), set(0.5F)), set(2 * std::numbers::pi_v<float>));
    hn::StoreU(hn::Mul(radius, hn::Cos(kTag, angle)), kTag, z + r);
  }
}

}  // namespace penstock::fused::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::fused {

HWY_EXPORT(random_words);
HWY_EXPORT(draw_categorical);
HWY_EXPORT(draw_normal);

void random_words(const RandomKey& first, std::uint32_t block, std::size_t rows,
                  std::uint32_t* words) {
  const Random::Start start = Random::start(first);
  std::array<std::uint32_t, 4> counter = start.counter;
  counter[0] += block + 1;
  HWY_DYNAMIC_DISPATCH(random_words)(counter, start.key, rows, words);
}

std::size_t draw_categorical(const CategoricalDraw& x) {
  return HWY_DYNAMIC_DISPATCH(draw_categorical)(x);
}

void draw_normal(const std::uint32_t* words1, const std::uint32_t* words2, std::size_t rows,
                 float* z) {
  HWY_DYNAMIC_DISPATCH(draw_normal)(words1, words2, rows, z);
}

}  // namespace penstock::fused
#endif  // HWY_ONCE
