#include "penstock/domains/booking/neural/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/random.h"
#include "penstock/core/fused/dense.h"
#include "penstock/core/store/safetensors.h"
#include "penstock/domains/booking/neural/construction.h"
#include "penstock/domains/booking/neural/features.h"

namespace penstock::booking {
namespace {

constexpr const char* kFormat = "penstock dvrptw oracle 1";
constexpr std::int64_t kMost = 4096;  // of any size that a file claims

constexpr std::int64_t kNodes = kNodeFeatures;
constexpr std::int64_t kEdges = kEdgeFeatures;
constexpr std::int64_t kContext = kContextFeatures;
constexpr std::int64_t kChoices = kChoiceFeatures;

class Layout {
 public:
  void add(const std::string& name, std::vector<std::int64_t> shape) {
    parameters.push_back({name, std::move(shape), next_});
    next_ += fused::padded(parameters.back().size());
  }
  void linear(const std::string& name, std::int64_t inputs, std::int64_t outputs) {
    add(name + ".weight", {inputs, outputs});
    add(name + ".bias", {outputs});
  }

  std::vector<Parameter> parameters;

 private:
  std::size_t next_ = 0;
};

std::map<std::string, std::string> header_of(const ModelShape& shape) {
  return {{"format", kFormat},
          {"layers", std::to_string(shape.layers)},
          {"heads", std::to_string(shape.heads)},
          {"hidden", std::to_string(shape.hidden)},
          {"edge_hidden", std::to_string(shape.edge_hidden)}};
}

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw DataError(fmt::format("{}: {}; `penstock booking oracle train --out {}` makes a model",
                              path, why, path));
}

ModelShape shape_of(const Safetensors& file, const std::string& path) {
  const auto& notes = file.metadata();
  const auto format = notes.find("format");
  if (format == notes.end() || format->second != kFormat) {
    refuse(path, "not a neural routing oracle of this version");
  }
  const auto number = [&](const char* key) {
    const auto found = notes.find(key);
    const std::string text = found == notes.end() ? "" : found->second;
    const bool digits = !text.empty() && text.size() < 6 &&
                        std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
    const std::int64_t value = digits ? std::stoll(text) : 0;
    if (value < 1 || value > kMost) { refuse(path, fmt::format("{} = '{}'", key, text)); }
    return value;
  };
  return {.layers = number("layers"),
          .heads = number("heads"),
          .hidden = number("hidden"),
          .edge_hidden = number("edge_hidden")};
}

}  // namespace

std::size_t Parameter::size() const {
  std::size_t count = 1;
  for (const std::int64_t n : shape) { count *= n; }
  return count;
}

std::vector<Parameter> parameters_of(const ModelShape& shape) {
  const std::int64_t width = shape.width();
  Layout layout;
  layout.linear("embed", kNodes, width);
  layout.linear("edge.up", kEdges, shape.edge_hidden);
  layout.linear("edge.down", shape.edge_hidden, shape.layers * shape.heads);
  for (std::int64_t i = 0; i < shape.layers; ++i) {
    const std::string prefix = fmt::format("block.{}", i);
    layout.add(prefix + ".norm1", {width});
    layout.add(prefix + ".qkv", {width, 3 * width});
    layout.add(prefix + ".out", {width, width});
    layout.add(prefix + ".norm2", {width});
    layout.linear(prefix + ".up", width, shape.hidden);
    layout.linear(prefix + ".down", shape.hidden, width);
  }
  layout.add("norm", {width});
  layout.add("decoder", {width, 4 * width});  // keys, values, pointers, and queries from here
  layout.add("graph", {width, width});
  layout.linear("context", kContext, width);
  layout.linear("choice.up", kChoices, shape.edge_hidden);
  layout.linear("choice.down", shape.edge_hidden, shape.heads + 1);
  return std::move(layout.parameters);
}

std::size_t num_floats(std::span<const Parameter> parameters) {
  return parameters.empty() ? 0
                            : parameters.back().offset + fused::padded(parameters.back().size());
}

Model::Model(const ModelShape& shape)
    : shape_(shape), parameters_(parameters_of(shape)), weights_(num_floats(parameters_)) {}

Model::Model(const ModelShape& shape, std::uint64_t seed) : Model(shape) {
  std::uint32_t owner = 0;
  for (const Parameter& parameter : parameters_) {
    float* out = weights_.data() + parameter.offset;
    Random random({.seed = seed, .owner = owner++, .stream = Stream::weights});
    const bool norm = parameter.name.find("norm") != std::string::npos;
    const bool matrix = parameter.shape.size() == 2;
    // Residual branches begin small.
    const bool branch = parameter.name.ends_with(".out") || parameter.name.ends_with("down.weight");
    const double scale = matrix ? (branch ? 0.5 : 1.0) / std::sqrt(parameter.shape[0]) : 0;
    for (std::size_t i = 0; i < parameter.size(); ++i) {
      out[i] = norm ? 1 : matrix ? scale * random.normal() : 0;
    }
  }
}

const float* Model::at(std::string_view name) const {
  const auto found = std::ranges::find(parameters_, name, &Parameter::name);
  return found == parameters_.end() ? nullptr : weights_.data() + found->offset;
}

void Model::save(const std::string& path) const {
  std::vector<TensorView> views;
  for (const Parameter& parameter : parameters_) {
    const std::span<const float> values{weights_.data() + parameter.offset, parameter.size()};
    views.push_back({parameter.name, Dtype::f32, parameter.shape, std::as_bytes(values)});
  }
  std::map<std::string, std::string> metadata = header_of(shape_);
  metadata.insert(notes.begin(), notes.end());
  save_safetensors(path, views, metadata);
}

Model Model::load(const std::string& path) {
  if (!std::filesystem::exists(path)) {
    throw IoError(fmt::format(
        "{}: no such model; `penstock booking oracle train --out {}` makes one", path, path));
  }
  const Safetensors file = Safetensors::read(path);
  Model model(shape_of(file, path));
  for (const Parameter& parameter : model.parameters_) {
    const auto& tensors = file.tensors();
    const auto found = std::ranges::find(tensors, parameter.name, &TensorView::name);
    if (found == tensors.end()) { refuse(path, "lacks " + parameter.name); }
    if (found->dtype != Dtype::f32 || found->shape != parameter.shape) {
      refuse(path, parameter.name + " has another shape");
    }
    std::memcpy(model.weights_.data() + parameter.offset, found->data.data(), found->data.size());
  }
  for (const auto& [key, value] : file.metadata()) {
    if (!header_of(model.shape_).contains(key)) { model.notes[key] = value; }
  }
  return model;
}

}  // namespace penstock::booking
