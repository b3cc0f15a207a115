#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace penstock::booking {

/// The most of gain x, where the rows take no more than their rooms: A x <= room, x >= 0. Every
/// room is at least 0, so that to do nothing is allowed. A dense simplex, for tens of rows and
/// hundreds of columns; the same input gives the same bits.
///
///     LinearProgram program;
///     program.begin(rooms);
///     program.add(gain, takes);           // also later, between two calls of maximise()
///     program.maximise();
///     program.price(row);                 // what another unit of its room would bring
class LinearProgram {
 public:
  /// Rows with these rooms, and no columns.
  void begin(std::span<const double> rooms);
  /// A variable: what a unit of it brings, and takes of each row.
  void add(double gain, std::span<const double> takes);
  /// Goes on from where it ended last. False: there is no most.
  bool maximise();
  /// The most with other rooms, by the columns that there are; after maximise().
  double value_with(std::span<const double> rooms);

  [[nodiscard]] double value() const { return -room_.back(); }
  [[nodiscard]] double price(std::size_t row) const { return -columns_[row].back(); }
  /// Of the column that was added as number `column`.
  [[nodiscard]] double amount(std::size_t column) const;

 private:
  /// [rows], and what a unit brings beyond what it costs at the prices of now.
  using Column = std::vector<double>;
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  [[nodiscard]] Column as_now(std::span<const double> takes, double gain) const;
  [[nodiscard]] std::size_t best_column(bool first) const;
  [[nodiscard]] std::size_t tightest_row(const Column& column) const;
  void regain_rooms();
  void pivot(std::size_t row, std::size_t column);

  std::vector<Column>
      columns_;  // the rows' own, which take what is left of a room, then those added
  Column room_;  // and the value, negative
  std::vector<std::size_t> basis_;  // [rows] the column that each row has
  // What value_with() comes back to.
  std::vector<Column> columns_kept_;
  Column room_kept_;
  std::vector<std::size_t> basis_kept_;
};

}  // namespace penstock::booking
