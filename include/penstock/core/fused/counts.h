#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "penstock/core/fused/dense.h"

namespace penstock::fused {

/// Lists of whole numbers, one behind the other: list i is items[first[i]] .. items[first[i + 1]].
struct Lists {
  std::vector<std::uint32_t> first = {0};
  std::vector<std::uint32_t> items;

  [[nodiscard]] std::size_t count() const { return first.size() - 1; }
};

/// out[i] = start + the sum over the items k of list i, in their order, of table[k].
struct RowSums {
  const Lists& lists;
  const float* table = nullptr;  // [.., width]
  const float* start = nullptr;  // [width]; null: 0
  float* out = nullptr;          // [lists, width]
  std::size_t width = 0;         // a multiple of kPad
  bool add = false;              // onto what is in `out`; start is then left out
};
/// Nothing checks that the items are rows of the table.
void sum_rows(const RowSums& x);

/// A part of the rows that a network reads.
struct InputPart {
  std::size_t offset = 0;  // in floats, from the row's start
  std::size_t size = 0;    // floats that it takes
  std::size_t first_feature = 0;
  std::size_t num_features = 0;
  bool counts = false;  // the floats are places of ones among the features, or -1
};

/// What the parts that hold counts contain in a chunk of rows, for a layer to look up: the product
/// of a row of counts and a matrix is the sum of the matrix's rows that were counted.
class Counted {
 public:
  explicit Counted(std::vector<InputPart> parts);

  /// Takes in a chunk. `for_gradient` makes by_feature() too.
  void read(const Scattered& rows, std::size_t num_rows, bool for_gradient);

  [[nodiscard]] const std::vector<InputPart>& parts() const { return parts_; }
  [[nodiscard]] std::size_t row_stride() const { return row_stride_; }   // of the chunk
  [[nodiscard]] const Lists& by_row() const { return by_row_; }          // features of each row
  [[nodiscard]] const Lists& by_feature() const { return by_feature_; }  // rows of each feature

 private:
  void turn();

  std::vector<InputPart> parts_;
  std::size_t num_features_ = 0;
  std::size_t row_stride_ = 0;
  Lists by_row_;
  Lists by_feature_;
  std::vector<std::uint32_t> next_;  // [features], while turning
};

}  // namespace penstock::fused
