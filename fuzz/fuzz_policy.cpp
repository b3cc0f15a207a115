// A policy file of a stranger is either refused with an Error of the user's or a policy that can
// act on a row and be saved again.
#include <memory>

#include "penstock/core/act/actor.h"
#include "penstock/core/base/errors.h"
#include "safetensors_mutator.h"
#include "scratch_file.h"

namespace {

using namespace penstock;

std::string path() { return fuzz::scratch_folder() + "/policy.safetensors"; }

void act(const std::shared_ptr<const PolicyModel>& model) {
  const EnvSpec& spec = model->spec();
  std::vector<float> obs(spec.obs.size());
  std::vector<std::int64_t> choices(spec.action.continuous() ? 0 : spec.action.dims());
  std::vector<float> points(spec.action.continuous() ? spec.action.dims() : 0);
  std::vector<float> env_points(points.size());
  float value = 0;
  const auto actor = make_actor(model);
  actor->act(
      {.count = 1, .obs = obs},
      {.choices = choices, .points = points, .env_points = env_points, .value = {&value, 1}});
}

/// The description is a JSON text inside a string of the header: it is changed as JSON.
std::string change_description(const std::string& header, std::size_t max, fuzz::Random& random) {
  const std::string key = "\"penstock.policy\":\"";
  const std::size_t begin = header.find(key);
  std::size_t end = begin == std::string::npos ? header.size() : begin + key.size();
  while (end < header.size() && header[end] != '"') { end += header[end] == '\\' ? 2 : 1; }
  if (end >= header.size() || random() % 4 == 0) { return fuzz::mutated(header, max, random); }
  std::string json;
  for (std::size_t i = begin + key.size(); i < end; ++i) {
    if (header[i] != '\\') { json += header[i]; }
  }
  std::string quoted;
  for (const char c : fuzz::mutated(json, max / 2, random)) {
    if (c == '"' || c == '\\') { quoted += '\\'; }
    quoted += c;
  }
  return header.substr(0, begin + key.size()) + quoted + header.substr(end);
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max, unsigned seed) {
  fuzz::Random random(seed);
  const auto change = [&](const std::string& header, std::size_t most) {
    return change_description(header, most, random);
  };
  return fuzz::put(fuzz::mutated_safetensors(fuzz::text_of(data, size), max, random, change), data,
                   max);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::write_file(path(), data, size);
  try {
    const auto model = PolicyModel::load(path());
    act(model);
    model->save(path());
  } catch (const Error&) {
    return 0;  // any other exception is a crash
  }
  PolicyModel::load(path());  // throws, and so crashes, when we save what we do not read
  return 0;
}
