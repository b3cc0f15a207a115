#include "penstock/envs/classic/masked.h"

#include <algorithm>
#include <string>

#include "penstock/core/base/errors.h"

namespace penstock {
namespace {

/// A bit that looks random, from the finaliser of MurmurHash3: an env's masks need no memory.
bool coin(std::uint32_t salt, std::int64_t i) {
  std::uint32_t bits = salt + static_cast<std::uint32_t>(i) * 0x9E3779B9U;
  bits = (bits ^ bits >> 16) * 0x85EBCA6BU;
  bits = (bits ^ bits >> 13) * 0xC2B2AE35U;
  return bits >> 31 != 0;
}

/// Numbers in [0, 1) spread evenly: a cheap filler even for rows of thousands of floats.
void fill_decoys(std::span<float> out, std::uint32_t salt) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::uint32_t turned = salt + static_cast<std::uint32_t>(i) * 0x9E3779B9U;
    out[i] = static_cast<std::int32_t>(turned >> 8) * 0x1.0p-24F;
  }
}

}  // namespace

MaskedEnv::MaskedEnv(const Config& config) : config_(config) {
  if (config.num_features < config.num_actions + 2) {
    throw ConfigError("env.num_features = " + std::to_string(config.num_features) +
                      " is too short: env.num_actions = " + std::to_string(config.num_actions) +
                      " needs at least " + std::to_string(config.num_actions + 2));
  }
}

EnvSpec MaskedEnv::spec() const {
  const std::int64_t decoys = config_.num_features - config_.num_actions - 1;
  return {Layout({{"clock", {1}}, {"hint", {config_.num_actions}}, {"decoys", {decoys}}}),
          Discrete{config_.num_actions, true}, config_.max_steps};
}

void MaskedEnv::reset(std::uint64_t seed, Row row) {
  random_ = Random(seed);
  steps_ = 0;
  ask(row);
}

Outcome MaskedEnv::step(std::int64_t action, Row row) {
  const bool allowed = legal(action);
  const bool right = action == answer_;
  ++steps_;
  ask(row);
  if (!allowed) { return {.reward = -1, .terminated = true, .success = Success::no}; }
  return {.reward = right ? 1.0F : 0.0F, .success = Success::yes};
}

bool MaskedEnv::legal(std::int64_t action) const {
  if (action == answer_) { return true; }
  return is_action(action) && action != lure_ && coin(salt_, action);
}

void MaskedEnv::ask(Row row) {
  const std::uint32_t n = config_.num_actions;
  salt_ = random_.next();
  answer_ = random_.below(n);
  lure_ = (answer_ + 1 + random_.below(n - 1)) % n;

  const std::span<float> hint = row.obs.subspan(1, n);
  row.obs[0] = 1.0F / (1 + steps_);
  std::fill(hint.begin(), hint.end(), 0.0F);
  hint[answer_] = 1;
  hint[lure_] = 1;
  fill_decoys(row.obs.subspan(1 + n), salt_);
  for (std::size_t i = 0; i < n; ++i) { row.legal[i] = legal(i); }
}

}  // namespace penstock
