#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/core/fused/aligned.h"

namespace penstock::booking {

/// How large the network is. A head is 16 wide.
struct ModelShape {
  std::int64_t layers = 3;
  std::int64_t heads = 8;
  std::int64_t hidden = 512;      // of the layers' two linear maps
  std::int64_t edge_hidden = 16;  // of the maps from ways to biases
  bool operator==(const ModelShape&) const = default;

  static constexpr std::int64_t kHead = 16;
  [[nodiscard]] std::int64_t width() const { return heads * kHead; }
};

/// A parameter's place in the flat buffer. Matrices are [inputs, outputs]; offsets are multiples of
/// 16, and what lies between parameters is zero.
struct Parameter {
  std::string name;
  std::vector<std::int64_t> shape;
  std::size_t offset = 0;  // floats
  [[nodiscard]] std::size_t size() const;
};

/// All parameters of a shape, in the order of the flat buffer.
std::vector<Parameter> parameters_of(const ModelShape& shape);
/// The floats of the flat buffer.
std::size_t num_floats(std::span<const Parameter> parameters);

/// The weights of the neural oracle.
/// Movable. Reading is thread-safe while nobody writes to weights().
class Model {
 public:
  Model() = default;
  /// At random: a function of shape and seed.
  Model(const ModelShape& shape, std::uint64_t seed);

  [[nodiscard]] const ModelShape& shape() const { return shape_; }
  [[nodiscard]] std::span<const Parameter> parameters() const { return parameters_; }
  /// A parameter's first float, which lives as long as the model; null for an unknown name.
  [[nodiscard]] const float* at(std::string_view name) const;
  /// All of the flat buffer, padding too.
  [[nodiscard]] std::span<float> weights() { return {weights_.data(), weights_.size()}; }
  [[nodiscard]] std::span<const float> weights() const {
    return {weights_.data(), weights_.size()};
  }

  /// What a file says about itself.
  std::map<std::string, std::string> notes;

  /// As safetensors. Throws IoError.
  void save(const std::string& path) const;
  /// Throws IoError or DataError that says how a model is made.
  static Model load(const std::string& path);

 private:
  explicit Model(const ModelShape& shape);

  ModelShape shape_;
  std::vector<Parameter> parameters_;
  fused::AlignedFloats weights_;
};

}  // namespace penstock::booking
