#include <fmt/format.h>

#include <cstring>

#include "penstock/core/base/errors.h"
#include "penstock/core/store/safetensors.h"
#include "penstock/domains/booking/neural/train/trainer.h"

namespace penstock::booking {
namespace {

TensorView view_of(const char* name, std::span<const float> values) {
  return {name, Dtype::f32, {std::ssize(values)}, std::as_bytes(values)};
}

void copy(const Safetensors& file, const char* name, std::span<float> into,
          const std::string& path) {
  const TensorView& from = file.at(name);
  if (from.dtype != Dtype::f32 || from.data.size() != into.size_bytes()) {
    throw DataError(fmt::format("{}: the network has another size; train without --resume", path));
  }
  std::memcpy(into.data(), from.data.data(), into.size_bytes());
}

std::int64_t counter(const Safetensors& file, const char* key, const std::string& path) {
  const auto found = file.metadata().find(key);
  if (found == file.metadata().end()) {
    throw DataError(fmt::format("{}: not the state of a training; train without --resume", path));
  }
  return std::strtoll(found->second.c_str(), nullptr, 10);
}

}  // namespace

void OracleTrainer::save_state(const std::string& path) const {
  const std::vector<TensorView> views = {
      view_of("weights", model_.weights()), view_of("exp_avg", {exp_avg_.data(), exp_avg_.size()}),
      view_of("exp_avg_sq", {exp_avg_sq_.data(), exp_avg_sq_.size()})};
  save_safetensors(
      path, views,
      {{"imitated", std::to_string(imitated_)}, {"reinforced", std::to_string(reinforced_)}});
}

void OracleTrainer::load_state(const std::string& path) {
  const Safetensors file = Safetensors::read(path);
  copy(file, "weights", model_.weights(), path);
  copy(file, "exp_avg", {exp_avg_.data(), exp_avg_.size()}, path);
  copy(file, "exp_avg_sq", {exp_avg_sq_.data(), exp_avg_sq_.size()}, path);
  imitated_ = counter(file, "imitated", path);
  reinforced_ = counter(file, "reinforced", path);
}

}  // namespace penstock::booking
