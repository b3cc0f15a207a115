#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "domains/booking/neural/packed_model.h"
#include "penstock/core/fused/aligned.h"
#include "penstock/domains/booking/neural/planner.h"

namespace penstock::booking {

// Shapes: N tokens of a task, P of them padded to whole cache lines, E width, H heads, L layers.

/// What one task's construction needs of its encoding.
struct Encoded {
  const Task* task = nullptr;
  std::size_t tokens = 0;         // N
  std::size_t padded = 0;         // P
  fused::AlignedFloats keys;      // [E, P]
  fused::AlignedFloats values;    // [H, N, 16]
  fused::AlignedFloats pointers;  // [E, P]
  fused::AlignedFloats here;      // [N, E]: queries
  fused::AlignedFloats graph;     // [E]: a query
};

class Planner::Workspace {
 public:
  explicit Workspace(const PackedModel& model);

  void encode(std::span<const Task* const> tasks, std::int32_t flip);
  [[nodiscard]] const Task& task(std::size_t i) const { return *encoded_[i].task; }
  /// [N] The logits of all tokens at a state of a construction; valid until the next call.
  std::span<float> logits(std::size_t i, const Construction& plan);

 private:
  struct Rows {
    std::size_t first = 0;  // of the block's rows
    std::size_t tokens = 0;
    std::size_t padded = 0;
    std::size_t bias = 0;  // where its [L * H, N, P] begin
  };
  void lay_out(std::span<const Task* const> tasks);
  void bias_ways(const Task& task, const Rows& rows);
  void attend(std::size_t layer, const Rows& rows);
  void run_block(std::size_t layer);
  void keep(const Task& task, const Rows& rows, Encoded& into);
  void gather(const Encoded& task, std::span<const std::uint8_t> open);

  const PackedModel& model_;
  std::size_t width_;
  std::size_t heads_;
  std::vector<Rows> rows_;
  std::size_t num_rows_ = 0;
  std::vector<Encoded> encoded_;
  fused::AlignedFloats features_;  // [R, F]
  fused::AlignedFloats x_;         // [R, E]
  fused::AlignedFloats normed_;    // [R, E]
  fused::AlignedFloats wide_;      // [R, max(4 E, hidden)]
  fused::AlignedFloats mixed_;     // [R, E]
  fused::AlignedFloats bias_;      // of all tasks
  // Of one task, row or step.
  fused::AlignedFloats ways_;     // [features, P]
  fused::AlignedFloats small_;    // [edge hidden, P]
  fused::AlignedFloats scores_;   // [L * H or H + 1, P]
  fused::AlignedFloats keys_;     // [E, P]
  fused::AlignedFloats head_;     // [N, 16] values, and as much for what is mixed of them
  fused::AlignedFloats mask_;     // [P]
  fused::AlignedFloats query_;    // [E]
  fused::AlignedFloats glimpse_;  // [E]
  std::vector<float> context_;
};

}  // namespace penstock::booking
