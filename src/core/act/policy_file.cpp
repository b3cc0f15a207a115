#include "core/act/policy_file.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/json_value.h"

namespace penstock::detail {
namespace {

using fused::LinearShape;
using fused::MlpShape;

constexpr const char* kKey = "penstock.policy";
constexpr int kSchema = 1;
// A file may ask for this much and no more: what a network of a policy can be.
constexpr std::int64_t kMaxFloats = std::int64_t{1} << 31U;
constexpr std::int64_t kMaxRow = std::int64_t{1} << 24U;  // floats and features; as Layout has it

// ---- The env's spec

Json to_json(const Layout& layout) {
  Json parts = Json::array();
  for (const Part& part : layout.parts()) {
    Json lookups = Json::array();
    for (const Lookup& lookup : part.lookups) {
      lookups.push_back(
          {{"column", lookup.column}, {"table", lookup.table}, {"num_names", lookup.num_names}});
    }
    parts.push_back({{"name", part.name}, {"shape", part.shape}, {"lookups", lookups}});
    if (part.counts) { parts.back()["most"] = part.size; }
  }
  return parts;
}

/// For one more part behind `taken`. A Layout trusts whoever builds it.
void check_room(std::int64_t taken, std::int64_t size) {
  if (size < 1 || size > kMaxRow || taken + size > kMaxRow) {
    throw DataError("a part whose size is out of range");
  }
}

Layout layout_of(const Json& parts) {
  Layout layout;
  for (const Json& part : parts) {
    auto shape = part.at("shape").get<std::vector<std::int64_t>>();
    std::int64_t size = 1;
    for (const std::int64_t n : shape) {
      if (n < 1 || size > kMaxRow / n) {
        throw DataError("an observation whose size is out of range");
      }
      size *= n;
    }
    check_room(layout.num_features(), size);
    if (part.contains("most")) {
      const auto most = part.at("most").get<std::int64_t>();
      check_room(layout.size(), most);
      layout.append_counts(part.at("name"), std::move(shape), most);
      continue;
    }
    check_room(layout.size(), size);
    std::vector<Lookup> lookups;
    for (const Json& lookup : part.at("lookups")) {
      lookups.push_back({lookup.at("column").get<std::size_t>(), lookup.at("table"),
                         lookup.at("num_names").get<std::int64_t>()});
    }
    layout.append(part.at("name"), std::move(shape), std::move(lookups));
  }
  if (layout.size() == 0) { throw DataError("an observation without parts"); }
  return layout;
}

Json to_json(const ActionSpec& action) {
  if (action.continuous()) {
    return {{"kind", "box"}, {"low", action.box().low}, {"high", action.box().high}};
  }
  return {{"kind", action.multi() ? "multi_discrete" : "discrete"},
          {"n", action.choices()},
          {"masked", action.masked()}};
}

/// JSON has no infinity: null stands for a side that is not there.
std::vector<float> bounds_of(const Json& numbers, float sign) {
  std::vector<float> bounds;
  for (const Json& number : numbers) {
    bounds.push_back(number.is_null() ? sign * std::numeric_limits<float>::infinity()
                                      : number.get<float>());
  }
  return bounds;
}

ActionSpec action_of(const Json& action) {
  const std::string kind = action.at("kind");
  if (kind == "box") {
    Box box{bounds_of(action.at("low"), -1), bounds_of(action.at("high"), 1)};
    if (box.low.empty() || box.low.size() != box.high.size()) {
      throw DataError("box: low and high are empty or differ in length");
    }
    return box;
  }
  if (kind != "discrete" && kind != "multi_discrete") {
    throw DataError("actions of the unknown kind '" + kind +
                    "'; known are box, discrete and multi_discrete");
  }
  const auto n = action.at("n").get<std::vector<std::int64_t>>();
  const bool sensible =
      !n.empty() && std::ranges::all_of(n, [](std::int64_t x) { return x > 0 && x <= kMaxFloats; });
  if (!sensible) { throw DataError("actions without alternatives"); }
  if (kind == "multi_discrete") { return MultiDiscrete{n, action.at("masked")}; }
  if (n.size() > 1) {
    throw DataError("discrete actions of several choices; that is multi_discrete");
  }
  return Discrete{n[0], action.at("masked")};
}

// ---- The network

Json to_json(const std::vector<ParameterSlot>& slots) {
  Json out = Json::array();
  for (const ParameterSlot& slot : slots) {
    out.push_back({{"name", slot.name}, {"shape", slot.shape}, {"by_input", slot.by_input}});
  }
  return out;
}

/// Places them one behind the other, as a learner does.
std::int64_t place(PolicyShape& shape, const Json& parameters) {
  std::int64_t total = 0;
  for (const Json& parameter : parameters) {
    ParameterSlot slot;
    slot.name = parameter.at("name");
    slot.shape = parameter.at("shape").get<std::vector<std::int64_t>>();
    slot.by_input = parameter.at("by_input");
    slot.offset = total;
    slot.size = 1;
    for (const std::int64_t n : slot.shape) {
      if (n < 0 || (n > 0 && slot.size > kMaxFloats / n)) {
        throw DataError("a parameter whose size is out of range");
      }
      slot.size *= n;
    }
    if (slot.by_input && slot.shape.size() != 2) {
      throw DataError("by_input of a parameter that is not a matrix");
    }
    total += aligned_size(slot.size);
    if (total > kMaxFloats) { throw DataError("more weights than a policy may have"); }
    shape.slots.push_back(std::move(slot));
  }
  return total;
}

/// The names of a stack's layers: "actor.0", "actor.1".
Json layers_of(const std::vector<LinearShape>& stack, const std::vector<ParameterSlot>& slots) {
  Json names = Json::array();
  for (const LinearShape& layer : stack) {
    const auto slot =
        std::ranges::find(slots, static_cast<std::int64_t>(layer.weight), &ParameterSlot::offset);
    names.push_back(slot->name.substr(0, slot->name.rfind('.')));
  }
  return names;
}

Json to_json(const MlpShape& mlp, const std::vector<ParameterSlot>& slots) {
  Json out = {{"activation", fused::name_of(mlp.activation)},
              {"trunk", layers_of(mlp.trunk, slots)},
              {"actor", layers_of(mlp.actor, slots)},
              {"critic", layers_of(mlp.critic, slots)},
              {"log_std", mlp.log_std != MlpShape::kNone}};
  if (mlp.tokens > 1) { out["tokens"] = mlp.tokens; }
  if (mlp.skip != MlpShape::kNone) {
    out["skip"] = mlp.skip;
    out["skip_scale"] = mlp.skip_scale;
  }
  return out;
}

const ParameterSlot& slot_named(const PolicyShape& shape, const std::string& name) {
  const auto slot = std::ranges::find(shape.slots, name, &ParameterSlot::name);
  if (slot == shape.slots.end()) { throw DataError("the network's '" + name + "' is missing"); }
  return *slot;
}

/// Checked against what comes in: `inputs` is then what goes out.
std::vector<LinearShape> stack_of(const Json& names, const PolicyShape& shape,
                                  std::int64_t& inputs) {
  if (names.size() > shape.slots.size()) { throw DataError("more layers than parameters"); }
  std::vector<LinearShape> stack;
  for (const Json& name : names) {
    const ParameterSlot& weight = slot_named(shape, name.get<std::string>() + ".weight");
    const ParameterSlot& bias = slot_named(shape, name.get<std::string>() + ".bias");
    if (weight.shape.size() != 2 || weight.shape[1] != inputs || weight.shape[0] < 1 ||
        bias.size != weight.shape[0]) {
      throw DataError("layer '" + name.get<std::string>() + "' does not fit the one before it");
    }
    inputs = weight.shape[0];
    stack.push_back({.inputs = static_cast<std::size_t>(weight.shape[1]),
                     .outputs = static_cast<std::size_t>(weight.shape[0]),
                     .weight = static_cast<std::size_t>(weight.offset),
                     .bias = static_cast<std::size_t>(bias.offset),
                     .by_input = weight.by_input});
  }
  return stack;
}

std::vector<fused::InputPart> counted_parts(const Layout& layout) {
  std::vector<fused::InputPart> parts;
  for (const Part& part : layout.parts()) {
    parts.push_back({part.offset, part.size, part.first_feature, part.num_features, part.counts});
  }
  return layout.any_counts() ? parts : std::vector<fused::InputPart>();
}

fused::Activation activation_of(const std::string& name) {
  if (const auto activation = fused::activation_named(name)) { return *activation; }
  throw DataError("the unknown activation '" + name + "'; known are tanh, relu and elu");
}

/// The kernels look counts up in first layers that are not heads, and take a weight by input
/// nowhere else.
void check_first_layers(const MlpShape& mlp) {
  for (const auto* stack : {&mlp.trunk, &mlp.actor, &mlp.critic}) {
    const bool is_trunk = stack == &mlp.trunk;
    for (std::size_t i = 0; i < stack->size(); ++i) {
      const bool reads_rows = i == 0 && (is_trunk || mlp.trunk.empty());
      const bool counts = reads_rows && !mlp.parts.empty();
      if (counts && !is_trunk && stack->size() == 1) {
        throw DataError("counts are read by a head; a layer must come before it");
      }
      if ((*stack)[i].by_input && !counts) {
        throw DataError("by_input of a layer that does not read counts");
      }
    }
  }
}

/// How many tokens a row is cut into: as many as the actions have choices, all alike.
std::size_t tokens_of(const Json& json, const EnvSpec& spec) {
  if (!json.contains("tokens")) { return 1; }
  const auto tokens = json.at("tokens").get<std::size_t>();
  const auto& choices = spec.action.choices();
  const bool alike = std::ranges::all_of(choices, [&](auto n) { return n == choices[0]; });
  if (tokens < 2 || choices.size() != tokens || !alike || spec.obs.any_counts() ||
      spec.obs.size() % tokens != 0 || json.contains("skip")) {
    throw DataError("tokens and actions disagree");
  }
  return tokens;
}

MlpShape mlp_of(const Json& json, const PolicyShape& shape) {
  MlpShape mlp;
  const ActionSpec& action = shape.spec.action;
  mlp.activation = activation_of(json.at("activation"));
  mlp.tokens = tokens_of(json, shape.spec);
  mlp.row_size = shape.spec.obs.size() / mlp.tokens;
  mlp.parts = counted_parts(shape.spec.obs);
  std::int64_t width = shape.spec.obs.num_features() / mlp.tokens;
  mlp.trunk = stack_of(json.at("trunk"), shape, width);
  std::int64_t outputs = width;
  mlp.actor = stack_of(json.at("actor"), shape, outputs);
  std::int64_t values = width;
  mlp.critic = stack_of(json.at("critic"), shape, values);
  const std::int64_t wanted =
      action.continuous() ? action.dims() : action.num_actions() / mlp.tokens;
  if (mlp.actor.empty() || mlp.critic.empty() || outputs != wanted || values != 1) {
    throw DataError("the network's outputs are not those of the actions");
  }
  check_first_layers(mlp);
  if (json.at("log_std").get<bool>() != action.continuous()) {
    throw DataError("log_std and actions disagree");
  }
  if (action.continuous()) {
    const ParameterSlot& log_std = slot_named(shape, "log_std");
    if (log_std.size != wanted) { throw DataError("log_std and actions disagree"); }
    mlp.log_std = log_std.offset;
  }
  if (json.contains("skip")) {
    mlp.skip = json.at("skip").get<std::size_t>();
    mlp.skip_scale = json.at("skip_scale").get<float>();
    if (mlp.skip >= mlp.row_size || mlp.row_size - mlp.skip < static_cast<std::size_t>(wanted)) {
      throw DataError("net.skip lies outside the observation");
    }
  }
  return mlp;
}

std::shared_ptr<const PolicyShape> shape_of(const Json& json) {
  if (json.at("schema").get<int>() != kSchema) {
    throw DataError("it is of schema " + to_text(json.at("schema")) +
                    ", this penstock reads schema " + std::to_string(kSchema));
  }
  auto shape = std::make_shared<PolicyShape>();
  shape->spec.obs = layout_of(json.at("obs"));
  shape->spec.action = action_of(json.at("action"));
  shape->spec.max_episode_steps = json.at("max_episode_steps");
  shape->head = make_action_head(shape->spec.action, json.at("squash"));
  shape->clip_obs = json.at("clip_obs");
  shape->num_floats = place(*shape, json.at("parameters"));
  if (json.contains("mlp")) { shape->mlp = mlp_of(json.at("mlp"), *shape); }
  return shape;
}

}  // namespace

std::map<std::string, std::string> write_header(const PolicyShape& shape, std::int64_t version) {
  Json json = {{"schema", kSchema},
               {"version", version},
               {"obs", to_json(shape.spec.obs)},
               {"action", to_json(shape.spec.action)},
               {"max_episode_steps", shape.spec.max_episode_steps},
               {"squash", shape.head->squash()},
               {"clip_obs", shape.clip_obs},
               {"parameters", to_json(shape.slots)}};
  if (shape.mlp) { json["mlp"] = to_json(*shape.mlp, shape.slots); }
  return {{kKey, to_text(json)}};
}

PolicyHeader read_header(const Safetensors& file, const std::string& path) {
  const auto text = file.metadata().find(kKey);
  if (text == file.metadata().end()) {
    throw DataError(path + ": not a policy file; `penstock export RUN` writes one");
  }
  try {
    const Json json = parse_json(text->second);
    return {shape_of(json), json.at("version").get<std::int64_t>()};
  } catch (const Json::exception& error) {
    throw DataError(path + ": " + error.what());
  } catch (const Error& error) { throw DataError(path + ": " + error.what()); }
}

}  // namespace penstock::detail
