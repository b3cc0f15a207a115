#include "domains/booking/neural/packed_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "penstock/core/fused/dense.h"
#include "penstock/domains/booking/neural/construction.h"
#include "penstock/domains/booking/neural/features.h"
#include "penstock/domains/booking/neural/planner.h"

namespace penstock::booking {
namespace {

using fused::AlignedFloats;

AlignedFloats copy(const float* from, std::size_t size) {
  AlignedFloats to(fused::padded(size));
  std::copy_n(from, size, to.data());
  return to;
}

PackedLinear linear(const Model& model, const std::string& weight, const std::string& bias,
                    std::size_t inputs, std::size_t outputs) {
  PackedLinear packed;
  packed.inputs = inputs;
  packed.outputs = outputs;
  const std::size_t width = fused::padded(outputs);
  packed.weight = AlignedFloats(inputs * width);
  const float* from = model.at(weight);
  for (std::size_t i = 0; i < inputs; ++i) {
    std::copy_n(from + i * outputs, outputs, packed.weight.data() + i * width);
  }
  if (!bias.empty()) { packed.bias = copy(model.at(bias), outputs); }
  return packed;
}

PackedLinear linear(const Model& model, const std::string& name, std::size_t inputs,
                    std::size_t outputs) {
  return linear(model, name + ".weight", name + ".bias", inputs, outputs);
}

void scale_columns(PackedLinear& packed, std::size_t begin, std::size_t end, float factor) {
  const std::size_t width = fused::padded(packed.outputs);
  for (std::size_t i = 0; i < packed.inputs; ++i) {
    for (std::size_t c = begin; c < end; ++c) { packed.weight.data()[i * width + c] *= factor; }
  }
}

}  // namespace

PackedModel::PackedModel(const Model& model) : shape(model.shape()) {
  const std::size_t width = shape.width();
  const std::size_t hidden = shape.hidden;
  const std::size_t small = shape.edge_hidden;
  const std::size_t heads = shape.heads;
  const std::size_t layers = shape.layers;
  const float per_head = 1 / std::sqrt(static_cast<float>(ModelShape::kHead));
  embed = linear(model, "embed", kNodeFeatures, width);
  edge_up = linear(model, "edge.up", kEdgeFeatures, small);
  edge_down = linear(model, "edge.down", small, layers * heads);
  for (std::size_t i = 0; i < layers; ++i) {
    const std::string prefix = fmt::format("block.{}", i);
    PackedBlock block;
    block.norm1 = copy(model.at(prefix + ".norm1"), width);
    block.qkv = linear(model, prefix + ".qkv", "", width, 3 * width);
    scale_columns(block.qkv, 0, width, per_head);
    block.out = linear(model, prefix + ".out", "", width, width);
    block.norm2 = copy(model.at(prefix + ".norm2"), width);
    block.up = linear(model, prefix + ".up", width, hidden);
    block.down = linear(model, prefix + ".down", hidden, width);
    blocks.push_back(std::move(block));
  }
  norm = copy(model.at("norm"), width);
  decoder = linear(model, "decoder", "", width, 4 * width);
  scale_columns(decoder, 0, width, per_head);
  scale_columns(decoder, 2 * width, 3 * width, 1 / std::sqrt(static_cast<float>(width)));
  graph = linear(model, "graph", "", width, width);
  context = linear(model, "context", kContextFeatures, width);
  choice_up = linear(model, "choice.up", kChoiceFeatures, small);
  choice_down = linear(model, "choice.down", small, heads + 1);
}

std::shared_ptr<const PackedModel> pack(const Model& model) {
  return std::make_shared<const PackedModel>(model);
}

}  // namespace penstock::booking
