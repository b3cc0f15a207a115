#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "penstock/core/env/spec.h"
#include "penstock/core/nn/mlp.h"

namespace penstock::detail {

// Shapes: B samples, F floats of a row, X numbers that a network reads.

/// What a network reads of a row: counts in full, and for each name the numbers that a table, which
/// is learnt, holds for it.
class Inputs {
 public:
  Inputs(const Layout& layout, const NetConfig& config, std::uint64_t seed);

  /// A part and where its numbers stand.
  struct Piece {
    Part part;
    std::int64_t first = 0;
    std::int64_t width = 0;
  };
  [[nodiscard]] const std::vector<Piece>& pieces() const { return pieces_; }
  [[nodiscard]] std::int64_t width() const { return width_; }  // X
  [[nodiscard]] bool any_counts() const { return any_counts_; }
  [[nodiscard]] bool any_names() const { return !tables_.empty(); }

  /// [B, X] of rows [B, F]. Views of them, where a row is its numbers.
  [[nodiscard]] at::Tensor read(const at::Tensor& rows) const;
  /// linear(read(rows), weight, bias), where counts are looked up instead of multiplied.
  [[nodiscard]] at::Tensor linear(const at::Tensor& rows, const at::Tensor& weight,
                                  const at::Tensor& bias) const;

  /// table.NAME [names, net.name_width].
  [[nodiscard]] std::vector<std::pair<std::string, at::Tensor>> parameters() const;

 private:
  void add_tables(const Part& part, const NetConfig& config, std::uint64_t seed);
  [[nodiscard]] at::Tensor read(const Piece& piece, const at::Tensor& rows) const;
  [[nodiscard]] at::Tensor look_up(const Part& part, const at::Tensor& numbers) const;

  std::vector<Piece> pieces_;
  std::map<std::string, at::Tensor> tables_;
  std::int64_t width_ = 0;
  bool any_counts_ = false;
};

}  // namespace penstock::detail
