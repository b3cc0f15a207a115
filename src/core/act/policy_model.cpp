#include "penstock/core/act/policy_model.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <string_view>
#include <utility>

#include "core/act/policy_file.h"
#include "penstock/core/base/check.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/store/safetensors.h"

namespace penstock {
namespace {

constexpr const char* kNormaliser = "normaliser.obs";
constexpr std::int64_t kMomentWidth = 3;  // count, mean, m2

/// A parameter as the file holds it: by rows, whatever its place in the flat buffer looks like.
/// `copy(flat index, file index)` is called for each of its numbers.
template <class Copy>
void for_each_number(const ParameterSlot& slot, const Copy& copy) {
  const std::size_t offset = slot.offset;
  const std::size_t size = slot.size;
  if (!slot.by_input) {
    for (std::size_t i = 0; i < size; ++i) { copy(offset + i, i); }
    return;
  }
  const std::size_t rows = slot.shape[0];
  const std::size_t columns = slot.shape[1];
  for (std::size_t i = 0; i < size; ++i) { copy(offset + (i % columns) * rows + i / columns, i); }
}

template <class T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

void check_kind(const TensorView& view, Dtype dtype, const std::vector<std::int64_t>& shape) {
  if (view.dtype != dtype || view.shape != shape) {
    throw DataError("policy: '" + view.name +
                    "' has another shape or type than the file's network");
  }
}

/// The numbers of a tensor, after a check of its type and shape.
template <class T>
std::vector<T> numbers_of(const TensorView& view, Dtype dtype,
                          const std::vector<std::int64_t>& shape) {
  check_kind(view, dtype, shape);
  std::vector<T> numbers(view.data.size() / sizeof(T));
  if (!numbers.empty()) { std::memcpy(numbers.data(), view.data.data(), view.data.size()); }
  return numbers;
}

/// Before memory is taken: the description is a stranger's claim, what the file holds is not.
void require_tensors(const Safetensors& file, const PolicyShape& shape) {
  std::set<std::string_view> seen;
  for (const ParameterSlot& slot : shape.slots) {
    if (!seen.insert(slot.name).second) {
      throw DataError("policy: the parameter '" + slot.name + "' is listed twice");
    }
    check_kind(file.at(slot.name), Dtype::f32, slot.shape);
  }
}

ObsNormaliser read_normaliser(const Safetensors& file, const PolicyShape& shape) {
  if (!shape.normalised()) { return {}; }
  const std::int64_t features = shape.spec.obs.size();
  const auto numbers =
      numbers_of<double>(file.at(kNormaliser), Dtype::f64, {features, kMomentWidth});
  std::vector<Moments> moments;
  for (std::size_t i = 0; i < numbers.size(); i += kMomentWidth) {
    moments.push_back({numbers[i], numbers[i + 1], numbers[i + 2]});
  }
  ObsNormaliser normaliser(shape.spec.obs, shape.clip_obs);
  normaliser.set_moments(std::move(moments));
  return normaliser;
}

}  // namespace

PolicyModel::PolicyModel(std::shared_ptr<const PolicyShape> shape, std::span<const float> weights,
                         ObsNormaliser normaliser, std::int64_t version)
    : shape_(std::move(shape)),
      weights_(weights),
      normaliser_(std::move(normaliser)),
      version_(version) {
  PENSTOCK_CHECK(std::ssize(weights), ==, shape_->num_floats);
}

std::shared_ptr<const PolicyModel> PolicyModel::load(const std::string& path) {
  const Safetensors file = Safetensors::read(path);
  const detail::PolicyHeader header = detail::read_header(file, path);
  require_tensors(file, *header.shape);
  std::vector<float> weights(header.shape->num_floats, 0.0F);
  for (const ParameterSlot& slot : header.shape->slots) {
    const auto numbers = numbers_of<float>(file.at(slot.name), Dtype::f32, slot.shape);
    for_each_number(slot, [&](std::size_t flat, std::size_t i) { weights[flat] = numbers[i]; });
  }
  return std::make_shared<PolicyModel>(header.shape, weights, read_normaliser(file, *header.shape),
                                       header.version);
}

void PolicyModel::save(const std::string& path) const {
  std::vector<std::vector<float>> kept;
  std::vector<TensorView> tensors;
  kept.reserve(shape_->slots.size());
  for (const ParameterSlot& slot : shape_->slots) {
    std::vector<float>& numbers = kept.emplace_back(static_cast<std::size_t>(slot.size));
    for_each_number(slot,
                    [&](std::size_t flat, std::size_t i) { numbers[i] = weights_.data()[flat]; });
    tensors.push_back({slot.name, Dtype::f32, slot.shape, bytes_of(numbers)});
  }
  std::vector<double> moments;
  if (shape_->normalised()) {
    for (const Moments& m : normaliser_.moments()) {
      moments.insert(moments.end(), {m.count, m.mean, m.m2});
    }
    tensors.push_back({kNormaliser,
                       Dtype::f64,
                       {std::ssize(normaliser_.moments()), kMomentWidth},
                       bytes_of(moments)});
  }
  save_safetensors(path, tensors, detail::write_header(*shape_, version_));
}

}  // namespace penstock
