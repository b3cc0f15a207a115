#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "penstock/core/act/action_head.h"
#include "penstock/core/act/obs_normaliser.h"
#include "penstock/core/act/parameters.h"
#include "penstock/core/env/spec.h"
#include "penstock/core/fused/aligned.h"
#include "penstock/core/fused/mlp.h"

namespace penstock {

class Actor;
class PolicyModel;

/// What every version of a policy has in common: all but its numbers.
struct PolicyShape {
  EnvSpec spec;
  std::shared_ptr<const ActionHead> head;
  std::vector<ParameterSlot> slots;  // in the order of the flat buffer
  std::int64_t num_floats = 0;       // of the flat buffer
  std::size_t memory_size = 0;       // floats that a row remembers from step to step
  double clip_obs = 0;               // bound of a normalised feature; 0: rows are used as they are
  /// The network as a stack of linear layers; none: it needs libtorch, which make_actor brings.
  std::optional<fused::MlpShape> mlp;
  std::function<std::unique_ptr<Actor>(std::shared_ptr<const PolicyModel>)> make_actor;

  [[nodiscard]] bool normalised() const { return clip_obs > 0; }
};

/// One version of a policy: shape, weights and frozen normaliser. What is published by a learner,
/// adopted by actors, and shipped in one file.
///
/// Immutable: any number of threads may share one. Whoever holds the pointer keeps it alive.
class PolicyModel {
 public:
  /// Copies the weights: [shape->num_floats].
  PolicyModel(std::shared_ptr<const PolicyShape> shape, std::span<const float> weights,
              ObsNormaliser normaliser, std::int64_t version);

  /// Reads what save() wrote. Throws IoError, or DataError that names what is wrong with the file.
  static std::shared_ptr<const PolicyModel> load(const std::string& path);
  /// One safetensors file: the weights by name, normaliser.obs [F, 3], and what the shape says as
  /// metadata (docs/formats.md). Throws IoError.
  void save(const std::string& path) const;

  [[nodiscard]] const PolicyShape& shape() const { return *shape_; }
  [[nodiscard]] const EnvSpec& spec() const { return shape_->spec; }
  [[nodiscard]] const float* weights() const { return weights_.data(); }
  [[nodiscard]] const ObsNormaliser& normaliser() const { return normaliser_; }
  /// How many updates it has seen.
  [[nodiscard]] std::int64_t version() const { return version_; }

 private:
  std::shared_ptr<const PolicyShape> shape_;
  fused::AlignedFloats weights_;
  ObsNormaliser normaliser_;
  std::int64_t version_;
};

}  // namespace penstock
