#pragma once
#include <cstdint>
#include <vector>

#include "penstock/core/act/action_head.h"

namespace penstock::detail {

/// One or many choices, each a softmax over its legal alternatives.
class CategoricalHead final : public ActionHead {
 public:
  explicit CategoricalHead(const ActionSpec& spec);
  [[nodiscard]] std::size_t num_params() const override { return num_actions_; }
  [[nodiscard]] const ActionSpec& spec() const override { return spec_; }
  [[nodiscard]] bool squash() const override { return false; }
  void sample(const ActionBlock& block, const ActionNoise& noise) const override;
  void mode(const ActionBlock& block) const override;
  void to_env(std::span<const float> points, std::span<float> actions) const override;
  [[nodiscard]] fused::Head fused() const override;

  /// Some rows' params and masks by columns, for the kernels.
  struct Columns {
    std::vector<float> logits;  // [A, kDrawRows]
    std::vector<float> legal;   // [A, kDrawRows]
  };

 private:
  void fill(Columns& columns, const ActionBlock& block, std::size_t first, std::size_t rows) const;
  void sample_chunk(const ActionBlock& block, std::size_t first, std::size_t rows,
                    const ActionNoise& noise) const;

  ActionSpec spec_;
  std::vector<std::int64_t> choices_;
  std::size_t num_actions_;
};

/// Independent normals; params are [mean | log std].
class GaussianHead final : public ActionHead {
 public:
  GaussianHead(Box box, bool squash);
  [[nodiscard]] std::size_t num_params() const override { return 2 * dims_; }
  [[nodiscard]] const ActionSpec& spec() const override { return spec_; }
  [[nodiscard]] bool squash() const override { return squash_; }
  void sample(const ActionBlock& block, const ActionNoise& noise) const override;
  void mode(const ActionBlock& block) const override;
  void to_env(std::span<const float> points, std::span<float> actions) const override;
  [[nodiscard]] fused::Head fused() const override;

 private:
  void sample_chunk(const ActionBlock& block, std::size_t first, std::size_t rows,
                    const ActionNoise& noise) const;

  ActionSpec spec_;
  Box box_;
  std::size_t dims_;
  bool squash_;
};

}  // namespace penstock::detail
