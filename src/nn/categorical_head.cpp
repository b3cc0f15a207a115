#include <ATen/ATen.h>

#include <cmath>
#include <limits>

#include "nn/heads.h"
#include "penstock/base/errors.h"
#include "penstock/base/random.h"

namespace penstock::detail {
namespace {

// Finite, because 0 * log 0 must stay 0 in the entropy; far enough that exp() of it is 0.
constexpr float kIllegal = -1e9F;

/// One choice: its logits and mask in a row.
struct Choice {
  std::span<const float> logits;
  std::span<const bool> legal;  // or empty

  [[nodiscard]] bool allows(std::size_t a) const { return legal.empty() || legal[a]; }
  /// The largest legal logit's place; npos when nothing is legal.
  [[nodiscard]] std::size_t best() const {
    std::size_t best = kNone;
    for (std::size_t a = 0; a < logits.size(); ++a) {
      if (allows(a) && (best == kNone || logits[a] > logits[best])) { best = a; }
    }
    return best;
  }
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
};

struct Drawn {
  std::int64_t action = 0;
  float log_prob = 0;
};

/// Inverse transform sampling over the legal alternatives.
Drawn draw(const Choice& choice, std::size_t best, float uniform) {
  const float top = choice.logits[best];
  float total = 0;
  for (std::size_t a = 0; a < choice.logits.size(); ++a) {
    if (choice.allows(a)) { total += std::exp(choice.logits[a] - top); }
  }
  float left = uniform * total;
  std::size_t chosen = best;  // rounding may leave a crumb after the last alternative
  for (std::size_t a = 0; a < choice.logits.size(); ++a) {
    if (!choice.allows(a)) { continue; }
    left -= std::exp(choice.logits[a] - top);
    if (left < 0) {
      chosen = a;
      break;
    }
  }
  return {static_cast<std::int64_t>(chosen), choice.logits[chosen] - top - std::log(total)};
}

}  // namespace

CategoricalHead::CategoricalHead(const ActionSpec& spec)
    : choices_(spec.choices()), num_actions_(spec.num_actions()) {}

ActionTerms CategoricalHead::evaluate(const at::Tensor& params, const at::Tensor& actions,
                                      const at::Tensor& legal) const {
  const at::Tensor logits =
      legal.defined() ? params.masked_fill(legal.logical_not(), kIllegal) : params;
  ActionTerms sum;
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < choices_.size(); ++d) {
    const at::Tensor log_p = logits.narrow(1, offset, choices_[d]).log_softmax(1);  // [B, n]
    const auto column = static_cast<std::int64_t>(d);
    const at::Tensor log_prob = log_p.gather(1, actions.narrow(1, column, 1)).squeeze(1);
    const at::Tensor entropy = -(log_p.exp() * log_p).sum(1);
    sum.log_prob = d == 0 ? log_prob : sum.log_prob + log_prob;
    sum.entropy = d == 0 ? entropy : sum.entropy + entropy;
    offset += choices_[d];
  }
  return sum;
}

template <class Pick>
void CategoricalHead::for_each_choice(const ActionBlock& block, std::size_t first_env,
                                      const Pick& pick) const {
  const std::size_t dims = choices_.size();
  const std::size_t rows = block.params.size() / num_actions_;
  for (std::size_t i = 0; i < rows; ++i) {
    std::size_t offset = i * num_actions_;
    for (std::size_t d = 0; d < dims; ++d) {
      const auto n = static_cast<std::size_t>(choices_[d]);
      const Choice choice{block.params.subspan(offset, n),
                          block.legal.empty() ? block.legal : block.legal.subspan(offset, n)};
      const std::size_t best = choice.best();
      if (best == Choice::kNone) {
        throw DataError("env " + std::to_string(first_env + i) +
                        ": no action is legal; the env must allow at least one in every row");
      }
      if (!std::isfinite(choice.logits[best])) {
        throw DataError("env " + std::to_string(first_env + i) +
                        ": the policy's output is not finite");
      }
      pick(i, d, choice, best);
      offset += n;
    }
  }
}

void CategoricalHead::sample(const ActionBlock& block, const ActionNoise& noise) const {
  Random random;
  for_each_choice(block, noise.first_env,
                  [&](std::size_t i, std::size_t d, const Choice& choice, std::size_t best) {
                    if (d == 0) {
                      random = Random({.seed = noise.seed,
                                       .owner = static_cast<std::uint32_t>(noise.first_env + i),
                                       .episode = noise.step,
                                       .stream = Stream::action});
                      block.log_prob[i] = 0;
                    }
                    const Drawn drawn = draw(choice, best, random.uniform_float());
                    block.choices[i * choices_.size() + d] = drawn.action;
                    block.log_prob[i] += drawn.log_prob;
                  });
}

void CategoricalHead::mode(const ActionBlock& block) const {
  for_each_choice(block, 0, [&](std::size_t i, std::size_t d, const Choice&, std::size_t best) {
    block.choices[i * choices_.size() + d] = static_cast<std::int64_t>(best);
  });
}

void CategoricalHead::to_env(std::span<const float>, std::span<float>) const {}

}  // namespace penstock::detail
