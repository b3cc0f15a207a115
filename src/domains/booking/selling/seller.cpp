#include "penstock/domains/booking/selling/seller.h"

#include <array>
#include <filesystem>

#include "penstock/core/base/errors.h"

namespace penstock::booking::selling {
namespace {

constexpr double kCentsPerUnit = 100;

std::string policy_file(const std::string& path) {
  const std::filesystem::path given(path);
  return std::filesystem::is_directory(given) ? (given / "policy.safetensors").string() : path;
}

/// The folder's name, or the file's without its ending.
std::string name_of_policy(const std::string& path) {
  std::filesystem::path given(path);
  if (!given.has_filename()) { given = given.parent_path(); }
  return given.stem().string();
}

}  // namespace

Seller::Seller(const std::string& path)
    : name_(name_of_policy(path)), actor_(make_actor(PolicyModel::load(policy_file(path)))) {
  require_slots_policy(actor_->model());
}

std::vector<SlotAdvice> Seller::offer(const SlotState& state) {
  std::array<float, kMaxSlots * kSlotFeatures> tokens{};
  std::array<bool, kMaxSlots * kSlotLevels> legal{};
  std::array<std::int64_t, kMaxSlots> levels{};
  write_slot_tokens(state, tokens, legal);
  {
    const std::lock_guard lock(mutex_);
    actor_->act({.count = 1, .obs = tokens, .legal = legal}, {.choices = levels});
  }
  const auto costs = costs_of_levels(state, levels);
  const SlotOffer offer =
      priced_offer(state.model.merged(state.belief), state.revenue / kCentsPerUnit, state.fees,
                   std::span(costs).first(state.num_slots));
  std::vector<SlotAdvice> advice(state.num_slots);
  for (std::size_t s = 0; s < state.num_slots; ++s) {
    if (offer.withheld[s]) { continue; }
    advice[s] = {.show = true, .opportunity = costs[s], .fee = offer.fees[s] / kCentsPerUnit};
  }
  return advice;
}

}  // namespace penstock::booking::selling
