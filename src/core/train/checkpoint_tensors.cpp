#include "core/train/checkpoint_tensors.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "penstock/core/base/errors.h"

namespace penstock::detail {
namespace {

at::ScalarType type_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::f32:
      return at::kFloat;
    case Dtype::f64:
      return at::kDouble;
    case Dtype::i32:
      return at::kInt;
    case Dtype::i64:
      return at::kLong;
    case Dtype::u8:
      return at::kByte;
    case Dtype::boolean:
      return at::kBool;
  }
  throw std::logic_error("unknown dtype");
}

Dtype dtype_of(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return Dtype::f32;
    case at::kDouble:
      return Dtype::f64;
    case at::kInt:
      return Dtype::i32;
    case at::kLong:
      return Dtype::i64;
    case at::kByte:
      return Dtype::u8;
    case at::kBool:
      return Dtype::boolean;
    default:
      throw std::logic_error("no checkpoint type for this tensor");
  }
}

const char* const kNormaliser = "normaliser.obs";

}  // namespace

at::Tensor read_tensor(const Checkpoint& checkpoint, const std::string& file,
                       const std::string& name) {
  const auto found = checkpoint.tensors.find(file);
  if (found == checkpoint.tensors.end()) {
    throw DataError("checkpoint: no " + file + ".safetensors");
  }
  const TensorView& view = found->second.at(name);
  at::Tensor tensor = at::empty(view.shape, type_of(view.dtype));
  if (!view.data.empty()) { std::memcpy(tensor.data_ptr(), view.data.data(), view.data.size()); }
  return tensor;
}

void read_into(const Checkpoint& checkpoint, const std::string& file, const std::string& name,
               const at::Tensor& target) {
  copy_into(read_tensor(checkpoint, file, name), file, name, target);
}

void copy_into(const at::Tensor& tensor, const std::string& file, const std::string& name,
               const at::Tensor& target) {
  if (tensor.sizes() != target.sizes() || tensor.scalar_type() != target.scalar_type()) {
    throw DataError("checkpoint: " + file + " '" + name +
                    "' has another shape or type than this config's");
  }
  target.copy_(tensor);
}

TensorView view_of(const std::string& name, const at::Tensor& tensor) {
  return {.name = name,
          .dtype = dtype_of(tensor.scalar_type()),
          .shape = tensor.sizes().vec(),
          .data = {static_cast<const std::byte*>(tensor.data_ptr()), tensor.nbytes()}};
}

void read_weights(const Checkpoint& checkpoint, Policy& policy) {
  for (const ParameterSlot& slot : policy.slots()) {
    read_into(checkpoint, "model", slot.name, Policy::view(policy.weights(), slot));
  }
  policy.weights_changed();
}

void check_normalised(const Checkpoint& checkpoint, bool normalised) {
  const auto& model = checkpoint.tensors.at("model").tensors();
  const bool found = std::ranges::find(model, kNormaliser, &TensorView::name) != model.end();
  if (found != normalised) {
    throw DataError("checkpoint: normalise.obs is not what the run was started with");
  }
}

std::vector<Moments> read_moments(const Checkpoint& checkpoint, std::size_t features) {
  const at::Tensor tensor = read_tensor(checkpoint, "model", kNormaliser);
  if (tensor.scalar_type() != at::kDouble ||
      tensor.sizes() != at::IntArrayRef({static_cast<std::int64_t>(features), 3})) {
    throw DataError("checkpoint: model 'normaliser.obs' has another shape than this env's rows");
  }
  const double* x = tensor.data_ptr<double>();
  std::vector<Moments> moments;
  for (std::size_t f = 0; f < features; ++f, x += 3) { moments.push_back({x[0], x[1], x[2]}); }
  return moments;
}

std::vector<std::byte> shared_bytes(const Checkpoint& checkpoint) {
  const auto file = checkpoint.tensors.find("envs");
  if (file == checkpoint.tensors.end()) { return {}; }
  for (const TensorView& view : file->second.tensors()) {
    if (view.name == "env.shared") { return {view.data.begin(), view.data.end()}; }
  }
  return {};
}

}  // namespace penstock::detail
