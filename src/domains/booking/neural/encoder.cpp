#include <algorithm>

#include "domains/booking/neural/units.h"
#include "domains/booking/neural/workspace.h"
#include "penstock/core/fused/adam.h"
#include "penstock/core/fused/attention.h"
#include "penstock/core/fused/dense.h"
#include "penstock/domains/booking/neural/features.h"

namespace penstock::booking {
namespace {

using fused::AlignedFloats;

constexpr std::size_t kHead = ModelShape::kHead;

/// At least this many floats; what was in it is gone when it grows.
void reserve(AlignedFloats& floats, std::size_t size) {
  if (floats.size() < size) { floats = AlignedFloats(size); }
}

/// out = x * linear, for all rows.
void apply(const PackedLinear& linear, const float* x, std::size_t stride, std::size_t rows,
           float* out, bool add = false) {
  fused::multiply({.a = {.data = x, .row_stride = stride},
                   .b = linear.weight.data(),
                   .bias = linear.bias.size() > 0 ? linear.bias.data() : nullptr,
                   .out = out,
                   .rows = rows,
                   .depth = linear.inputs,
                   .width = fused::padded(linear.outputs),
                   .add = add});
}

/// out [outputs, P] = bias + linear^T * x [inputs, P]: one column per token.
void apply_by_feature(const PackedLinear& linear, const float* x, std::size_t padded, float* out) {
  for (std::size_t o = 0; o < linear.outputs; ++o) {
    std::fill_n(out + o * padded, padded, linear.bias.data()[o]);
  }
  fused::multiply({.a = {.data = linear.weight.data(),
                         .row_stride = 1,
                         .column_stride = fused::padded(linear.outputs)},
                   .b = x,
                   .bias = nullptr,
                   .out = out,
                   .rows = linear.outputs,
                   .depth = linear.inputs,
                   .width = padded,
                   .add = true});
}

}  // namespace

Planner::Workspace::Workspace(const PackedModel& model)
    : model_(model),
      width_(model.shape.width()),
      heads_(model.shape.heads),
      query_(width_),
      glimpse_(width_),
      context_(kContextFeatures) {}

void Planner::Workspace::lay_out(std::span<const Task* const> tasks) {
  const std::size_t maps = heads_ * model_.blocks.size();
  rows_.clear();
  num_rows_ = 0;
  std::size_t bias = 0;
  std::size_t most = 0;  // P of the largest task
  for (const Task* task : tasks) {
    const std::size_t tokens = task->num_tokens();
    const std::size_t padded = fused::padded(tokens);
    rows_.push_back({.first = num_rows_, .tokens = tokens, .padded = padded, .bias = bias});
    num_rows_ += tokens;
    bias += maps * tokens * padded;
    most = std::max(most, padded);
  }
  const std::size_t hidden = model_.shape.hidden;
  const std::size_t small = model_.shape.edge_hidden;
  reserve(features_, num_rows_ * kNodeFeatures);
  reserve(x_, num_rows_ * width_);
  reserve(normed_, num_rows_ * width_);
  reserve(wide_, num_rows_ * std::max(4 * width_, fused::padded(hidden)));
  reserve(mixed_, num_rows_ * width_);
  reserve(bias_, bias);
  reserve(ways_, std::max(kEdgeFeatures, kChoiceFeatures) * most);
  reserve(small_, small * most);
  reserve(scores_, std::max(maps, heads_ + 1) * most);
  reserve(keys_, width_ * most);
  reserve(head_, 2 * most * kHead);
  reserve(mask_, most);
}

/// The biases of all heads of all layers, from one token's ways at a time.
void Planner::Workspace::bias_ways(const Task& task, const Rows& rows) {
  const std::size_t maps = heads_ * model_.blocks.size();
  const std::size_t stride = rows.padded;
  std::fill_n(ways_.data(), kEdgeFeatures * stride, 0.0F);
  for (std::size_t i = 0; i < rows.tokens; ++i) {
    write_edges(task, i, ways_.data(), stride);
    apply_by_feature(model_.edge_up, ways_.data(), stride, small_.data());
    fused::activate(fused::Activation::relu, small_.data(), model_.edge_up.outputs * stride);
    apply_by_feature(model_.edge_down, small_.data(), stride, scores_.data());
    for (std::size_t map = 0; map < maps; ++map) {
      std::copy_n(scores_.data() + map * stride, stride,
                  bias_.data() + rows.bias + (map * rows.tokens + i) * stride);
    }
  }
}

/// mixed = attention of one task's tokens to each other; their queries, keys and values are in
/// wide.
void Planner::Workspace::attend(std::size_t layer, const Rows& rows) {
  const std::size_t stride = 3 * width_;
  const float* qkv = wide_.data() + rows.first * stride;
  std::fill_n(keys_.data(), width_ * rows.padded, 0.0F);
  fused::transpose({.in = qkv + width_,
                    .in_stride = stride,
                    .out = keys_.data(),
                    .out_stride = rows.padded,
                    .rows = rows.tokens,
                    .columns = width_});
  std::fill_n(mask_.data(), rows.padded, kClosed);
  std::fill_n(mask_.data(), rows.tokens, 0.0F);
  float* values = head_.data();
  float* out = head_.data() + rows.tokens * kHead;
  for (std::size_t head = 0; head < heads_; ++head) {
    float* scores = bias_.data() + rows.bias + (layer * heads_ + head) * rows.tokens * rows.padded;
    fused::multiply({.a = {.data = qkv + head * kHead, .row_stride = stride},
                     .b = keys_.data() + head * kHead * rows.padded,
                     .out = scores,
                     .rows = rows.tokens,
                     .depth = kHead,
                     .width = rows.padded,
                     .add = true});
    fused::softmax({.x = scores, .mask = mask_.data(), .rows = rows.tokens, .width = rows.padded});
    for (std::size_t i = 0; i < rows.tokens; ++i) {
      std::copy_n(qkv + i * stride + 2 * width_ + head * kHead, kHead, values + i * kHead);
    }
    fused::multiply({.a = {.data = scores, .row_stride = rows.padded},
                     .b = values,
                     .out = out,
                     .rows = rows.tokens,
                     .depth = rows.tokens,
                     .width = kHead});
    float* mixed = mixed_.data() + rows.first * width_ + head * kHead;
    for (std::size_t i = 0; i < rows.tokens; ++i) {
      std::copy_n(out + i * kHead, kHead, mixed + i * width_);
    }
  }
}

void Planner::Workspace::run_block(std::size_t layer) {
  const PackedBlock& block = model_.blocks[layer];
  const auto norm = [&](const AlignedFloats& weight) {
    fused::rms_norm({.x = x_.data(),
                     .weight = weight.data(),
                     .out = normed_.data(),
                     .rows = num_rows_,
                     .width = width_});
  };
  norm(block.norm1);
  apply(block.qkv, normed_.data(), width_, num_rows_, wide_.data());
  for (const Rows& rows : rows_) { attend(layer, rows); }
  apply(block.out, mixed_.data(), width_, num_rows_, x_.data(), true);
  norm(block.norm2);
  const std::size_t hidden = fused::padded(block.up.outputs);
  apply(block.up, normed_.data(), width_, num_rows_, wide_.data());
  fused::activate(fused::Activation::relu, wide_.data(), num_rows_ * hidden);
  apply(block.down, wide_.data(), hidden, num_rows_, mixed_.data());
  fused::add(x_.data(), mixed_.data(), num_rows_ * width_);
}

void Planner::Workspace::encode(std::span<const Task* const> tasks, std::int32_t flip) {
  lay_out(tasks);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    write_nodes(*tasks[i], flip, features_.data() + rows_[i].first * kNodeFeatures);
    bias_ways(*tasks[i], rows_[i]);
  }
  apply(model_.embed, features_.data(), kNodeFeatures, num_rows_, x_.data());
  for (std::size_t layer = 0; layer < model_.blocks.size(); ++layer) { run_block(layer); }
  fused::rms_norm({.x = x_.data(),
                   .weight = model_.norm.data(),
                   .out = normed_.data(),
                   .rows = num_rows_,
                   .width = width_});
  apply(model_.decoder, normed_.data(), width_, num_rows_, wide_.data());
  encoded_.resize(std::max(encoded_.size(), tasks.size()));
  for (std::size_t i = 0; i < tasks.size(); ++i) { keep(*tasks[i], rows_[i], encoded_[i]); }
}

void Planner::Workspace::keep(const Task& task, const Rows& rows, Encoded& into) {
  const std::size_t stride = 4 * width_;
  const float* from = wide_.data() + rows.first * stride;
  into.task = &task;
  into.tokens = rows.tokens;
  into.padded = rows.padded;
  reserve(into.keys, width_ * rows.padded);
  reserve(into.values, width_ * rows.tokens);
  reserve(into.pointers, width_ * rows.padded);
  reserve(into.here, width_ * rows.tokens);
  reserve(into.graph, width_);
  const auto turn = [&](std::size_t column, AlignedFloats& out) {
    std::fill_n(out.data(), width_ * rows.padded, 0.0F);
    fused::transpose({.in = from + column,
                      .in_stride = stride,
                      .out = out.data(),
                      .out_stride = rows.padded,
                      .rows = rows.tokens,
                      .columns = width_});
  };
  turn(0, into.keys);
  turn(2 * width_, into.pointers);
  std::fill_n(query_.data(), width_, 0.0F);
  for (std::size_t i = 0; i < rows.tokens; ++i) {
    const float* row = from + i * stride;
    for (std::size_t head = 0; head < heads_; ++head) {
      std::copy_n(row + width_ + head * kHead, kHead,
                  into.values.data() + (head * rows.tokens + i) * kHead);
    }
    std::copy_n(row + 3 * width_, width_, into.here.data() + i * width_);
    fused::add(query_.data(), normed_.data() + (rows.first + i) * width_, width_);
  }
  for (std::size_t c = 0; c < width_; ++c) { query_.data()[c] /= rows.tokens; }
  apply(model_.graph, query_.data(), width_, 1, into.graph.data());
}

std::span<float> Planner::Workspace::logits(std::size_t i, const Construction& plan) {
  const Encoded& task = encoded_[i];
  const std::size_t stride = task.padded;
  std::fill_n(ways_.data(), kChoiceFeatures * stride, 0.0F);
  plan.describe(context_, ways_.data(), stride);
  apply_by_feature(model_.choice_up, ways_.data(), stride, small_.data());
  fused::activate(fused::Activation::relu, small_.data(), model_.choice_up.outputs * stride);
  apply_by_feature(model_.choice_down, small_.data(), stride, scores_.data());

  apply(model_.context, context_.data(), kContextFeatures, 1, query_.data());
  fused::add(query_.data(), task.graph.data(), width_);
  const std::size_t here = plan.here();
  fused::add(query_.data(), task.here.data() + here * width_, width_);
  gather(task, plan.open());
  fused::add(query_.data(), glimpse_.data(), width_);
  float* logits = scores_.data() + heads_ * stride;
  fused::multiply({.a = {.data = query_.data()},
                   .b = task.pointers.data(),
                   .out = logits,
                   .rows = 1,
                   .depth = width_,
                   .width = stride,
                   .add = true});
  return {logits, task.tokens};
}

/// glimpse = attention of the query to what is open; its biases are in scores.
void Planner::Workspace::gather(const Encoded& task, std::span<const std::uint8_t> open) {
  const std::size_t stride = task.padded;
  for (std::size_t head = 0; head < heads_; ++head) {
    fused::multiply({.a = {.data = query_.data() + head * kHead},
                     .b = task.keys.data() + head * kHead * stride,
                     .out = scores_.data() + head * stride,
                     .rows = 1,
                     .depth = kHead,
                     .width = stride,
                     .add = true});
  }
  std::fill_n(mask_.data(), stride, kClosed);
  for (std::size_t j = 0; j < task.tokens; ++j) {
    if (open[j] != 0) { mask_.data()[j] = 0; }
  }
  fused::softmax({.x = scores_.data(), .mask = mask_.data(), .rows = heads_, .width = stride});
  for (std::size_t head = 0; head < heads_; ++head) {
    fused::multiply({.a = {.data = scores_.data() + head * stride},
                     .b = task.values.data() + head * task.tokens * kHead,
                     .out = glimpse_.data() + head * kHead,
                     .rows = 1,
                     .depth = task.tokens,
                     .width = kHead});
  }
}

}  // namespace penstock::booking
