#include "domains/booking/slots/linear_program.h"

#include <algorithm>
#include <numeric>

namespace penstock::booking {
namespace {

constexpr double kTiny = 1e-9;

}  // namespace

void LinearProgram::begin(std::span<const double> rooms) {
  const std::size_t rows = rooms.size();
  columns_.assign(rows, Column(rows + 1, 0.0));
  for (std::size_t i = 0; i < rows; ++i) { columns_[i][i] = 1; }
  room_.assign(rooms.begin(), rooms.end());
  room_.push_back(0);
  basis_.resize(rows);
  std::iota(basis_.begin(), basis_.end(), std::size_t{0});
}

/// The rows' own columns hold the inverse of the basis, and the prices below it.
LinearProgram::Column LinearProgram::as_now(std::span<const double> takes, double gain) const {
  Column column(takes.size() + 1, 0.0);
  column.back() = gain;
  for (std::size_t k = 0; k < takes.size(); ++k) {
    if (takes[k] == 0) { continue; }
    for (std::size_t i = 0; i < column.size(); ++i) { column[i] += takes[k] * columns_[k][i]; }
  }
  return column;
}

void LinearProgram::add(double gain, std::span<const double> takes) {
  columns_.push_back(as_now(takes, gain));
}

double LinearProgram::amount(std::size_t column) const {
  const auto row = std::ranges::find(basis_, basis_.size() + column);
  return row == basis_.end() ? 0 : room_[row - basis_.begin()];
}

std::size_t LinearProgram::best_column(bool first) const {
  std::size_t best = kNone;
  double most = kTiny;
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    if (columns_[j].back() <= most) { continue; }
    best = j;
    if (first) { break; }
    most = columns_[j].back();
  }
  return best;
}

std::size_t LinearProgram::tightest_row(const Column& column) const {
  std::size_t best = kNone;
  double least = 0;
  for (std::size_t i = 0; i < basis_.size(); ++i) {
    if (column[i] <= kTiny) { continue; }
    const double ratio = room_[i] / column[i];
    if (best == kNone || ratio < least || (ratio == least && basis_[i] < basis_[best])) {
      best = i;
      least = ratio;
    }
  }
  return best;
}

// The column that gains most a unit; after many steps the first that gains (Bland), which cannot go
// in circles.
bool LinearProgram::maximise() {
  const std::size_t many = 20 * basis_.size();
  for (std::size_t steps = 0;; ++steps) {
    const std::size_t column = best_column(steps > many);
    if (column == kNone) { return true; }
    const std::size_t row = tightest_row(columns_[column]);
    if (row == kNone) { return false; }
    pivot(row, column);
  }
}

void LinearProgram::pivot(std::size_t row, std::size_t column) {
  const Column by = columns_[column];
  const auto turn = [&](Column& each) {
    const double share = each[row] / by[row];
    if (share == 0) { return; }
    for (std::size_t i = 0; i < each.size(); ++i) { each[i] -= share * by[i]; }
    each[row] = share;
  };
  for (Column& each : columns_) { turn(each); }
  turn(room_);
  basis_[row] = column;
}

double LinearProgram::value_with(std::span<const double> rooms) {
  columns_kept_ = columns_;
  room_kept_ = room_;
  basis_kept_ = basis_;
  room_ = as_now(rooms, 0);
  regain_rooms();
  const double found = value();
  columns_.swap(columns_kept_);
  room_.swap(room_kept_);
  basis_.swap(basis_kept_);
  return found;
}

// The dual simplex: prices stay right while rooms that became negative are made good.
void LinearProgram::regain_rooms() {
  const std::size_t many = 20 * basis_.size();
  for (std::size_t steps = 0; steps < many; ++steps) {
    const auto worst = std::min_element(room_.begin(), room_.end() - 1);
    if (*worst >= -kTiny) { return; }
    const std::size_t row = worst - room_.begin();
    std::size_t best = kNone;
    double least = 0;
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      const Column& column = columns_[j];
      if (column[row] >= -kTiny) { continue; }
      const double ratio = column.back() / column[row];
      if (best == kNone || ratio < least) {
        best = j;
        least = ratio;
      }
    }
    if (best == kNone) { return; }
    pivot(row, best);
  }
}

}  // namespace penstock::booking
