#include "core/nn/inputs.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "penstock/core/base/random.h"

namespace penstock::detail {
namespace {

// Tables draw from owners of their own, so that layers start the same with and without them.
constexpr std::uint32_t kFirstTable = 1U << 20U;

at::Tensor normal_table(std::int64_t names, std::int64_t width, const RandomKey& key) {
  at::Tensor table = at::empty({names, width}, at::kFloat);
  Random random(key);
  for (float& x : std::span(table.data_ptr<float>(), table.numel())) { x = random.normal(); }
  return table.set_requires_grad(true);
}

at::Tensor floats_of(const Part& part, const at::Tensor& rows) {  // [B, part.size]
  return rows.narrow(1, static_cast<std::int64_t>(part.offset),
                     static_cast<std::int64_t>(part.size));
}

at::Tensor expand_counts(const Part& part, const at::Tensor& rows) {  // [B, part.num_features]
  const at::Tensor places = floats_of(part, rows);
  const at::Tensor counted = places.ge(0).to(rows.scalar_type());
  return at::zeros({rows.size(0), static_cast<std::int64_t>(part.num_features)}, rows.options())
      .scatter_add(1, places.clamp_min(0).to(at::kLong), counted);
}

/// The sum of the columns of `weight` [outputs, features] that each row counts: [B, outputs].
at::Tensor sum_counted(const Part& part, const at::Tensor& rows, const at::Tensor& weight) {
  const at::Tensor places = floats_of(part, rows);
  const at::Tensor there = places.ge(0);
  const at::Tensor items = places.masked_select(there).to(at::kLong);
  const at::Tensor ends = there.sum(1).cumsum(0);
  const at::Tensor first = at::cat({at::zeros({1}, ends.options()), ends});
  constexpr std::int64_t kSum = 0;
  return std::get<0>(at::embedding_bag(weight.t(), items, first, /*scale_grad_by_freq=*/false, kSum,
                                       /*sparse=*/false, /*per_sample_weights=*/{},
                                       /*include_last_offset=*/true));
}

}  // namespace

Inputs::Inputs(const Layout& layout, const NetConfig& config, std::uint64_t seed)
    : any_counts_(layout.any_counts()) {
  for (const Part& part : layout.parts()) {
    add_tables(part, config, seed);
    const std::int64_t names = part.lookups.size();
    const std::int64_t lines = static_cast<std::int64_t>(part.num_features) / part.shape.back();
    const std::int64_t width = lines * (part.shape.back() + names * (config.name_width - 1));
    pieces_.push_back({part, width_, width});
    width_ += width;
  }
}

void Inputs::add_tables(const Part& part, const NetConfig& config, std::uint64_t seed) {
  for (const Lookup& lookup : part.lookups) {
    if (tables_.contains(lookup.table)) { continue; }
    const RandomKey key{.seed = seed,
                        .owner = kFirstTable + static_cast<std::uint32_t>(tables_.size()),
                        .stream = Stream::weights};
    tables_[lookup.table] = normal_table(lookup.num_names, config.name_width, key);
  }
}

std::vector<std::pair<std::string, at::Tensor>> Inputs::parameters() const {
  std::vector<std::pair<std::string, at::Tensor>> all;
  for (const auto& [name, table] : tables_) { all.emplace_back("table." + name, table); }
  return all;
}

at::Tensor Inputs::read(const at::Tensor& rows) const {
  if (!any_counts_ && !any_names()) { return rows; }
  std::vector<at::Tensor> all;
  for (const Piece& piece : pieces_) { all.push_back(read(piece, rows)); }
  return all.size() == 1 ? all[0] : at::cat(all, 1);
}

at::Tensor Inputs::read(const Piece& piece, const at::Tensor& rows) const {
  if (piece.part.counts) { return expand_counts(piece.part, rows); }
  const at::Tensor numbers = floats_of(piece.part, rows);
  return piece.part.lookups.empty() ? numbers : look_up(piece.part, numbers);
}

at::Tensor Inputs::look_up(const Part& part, const at::Tensor& numbers) const {
  const at::Tensor lines = numbers.reshape({numbers.size(0), -1, part.shape.back()});
  std::vector<at::Tensor> columns;
  for (std::int64_t c = 0; c < part.shape.back(); ++c) {
    const at::Tensor column = lines.select(2, c);
    const auto lookup =
        std::ranges::find(part.lookups, static_cast<std::size_t>(c), &Lookup::column);
    if (lookup == part.lookups.end()) {
      columns.push_back(column.unsqueeze(2));
      continue;
    }
    const at::Tensor& table = tables_.at(lookup->table);
    const at::Tensor found = at::embedding(table, column.clamp_min(0).to(at::kLong));
    columns.push_back(at::where(column.ge(0).unsqueeze(2), found, at::zeros({}, found.options())));
  }
  return at::cat(columns, 2).flatten(1);
}

at::Tensor Inputs::linear(const at::Tensor& rows, const at::Tensor& weight,
                          const at::Tensor& bias) const {
  if (!any_counts_) { return at::linear(read(rows), weight, bias); }
  at::Tensor sum = bias;
  for (const Piece& piece : pieces_) {
    const at::Tensor columns = weight.narrow(1, piece.first, piece.width);
    sum = sum + (piece.part.counts ? sum_counted(piece.part, rows, columns)
                                   : at::linear(read(piece, rows), columns));
  }
  return sum;
}

}  // namespace penstock::detail

namespace penstock {

at::Tensor features_of(const Layout& layout, const at::Tensor& rows) {
  if (!layout.any_counts()) { return rows; }
  std::vector<at::Tensor> all;
  for (const Part& part : layout.parts()) {
    all.push_back(part.counts ? detail::expand_counts(part, rows) : detail::floats_of(part, rows));
  }
  return at::cat(all, 1);
}

}  // namespace penstock
