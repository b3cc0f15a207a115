#pragma once
#include <cstddef>
#include <vector>

#include "penstock/core/fused/aligned.h"
#include "penstock/domains/booking/neural/model.h"

namespace penstock::booking {

/// A linear map [inputs, padded outputs]; the bias may be absent.
struct PackedLinear {
  fused::AlignedFloats weight;
  fused::AlignedFloats bias;
  std::size_t inputs = 0;
  std::size_t outputs = 0;
};

struct PackedBlock {
  fused::AlignedFloats norm1;
  PackedLinear qkv;  // queries scaled
  PackedLinear out;
  fused::AlignedFloats norm2;
  PackedLinear up;
  PackedLinear down;
};

class PackedModel {
 public:
  explicit PackedModel(const Model& model);

  ModelShape shape;
  PackedLinear embed;
  PackedLinear edge_up;
  PackedLinear edge_down;
  std::vector<PackedBlock> blocks;
  fused::AlignedFloats norm;
  PackedLinear decoder;  // keys (scaled), values, pointers (scaled), queries from here
  PackedLinear graph;
  PackedLinear context;
  PackedLinear choice_up;
  PackedLinear choice_down;
};

}  // namespace penstock::booking
