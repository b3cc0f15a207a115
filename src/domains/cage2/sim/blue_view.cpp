#include "penstock/domains/cage2/sim/blue_view.h"

#include <utility>

namespace penstock::cage2 {
namespace {

ActionMask mask_of(const std::string& word) {
  return word == "order"   ? ActionMask::order
         : word == "legal" ? ActionMask::legal
                           : ActionMask::none;
}

}  // namespace

BlueView::BlueView(const BlueKeys& keys, const GameConfig& game, bool show_order)
    : order_(order_of(keys.order)),
      show_order_(show_order),
      show_memory_(keys.memory),
      macro_(keys.macro),
      mask_(mask_of(keys.mask)) {
  if (keys.num_hypotheses > 0) {
    filter_ = std::make_unique<BeliefFilter>(game, static_cast<std::size_t>(keys.num_hypotheses));
  }
}

EnvSpec BlueView::spec(Layout bits, std::int64_t max_steps) const {
  const auto num = static_cast<std::int64_t>(num_choices());
  EnvSpec spec{std::move(bits), Discrete{num, masks()}, max_steps};
  if (show_order_) { spec.obs.append("order", {kNumTypes, kNumTypes}); }
  if (show_memory_) { spec.obs.append("memory", {Memory::kSize}); }
  if (filter_) { spec.obs.append("belief", {BeliefFilter::kSize}); }
  return spec;
}

void BlueView::reset() {
  memory_.reset();
  if (filter_) { filter_->reset(); }
}

void BlueView::note(std::int64_t action, Flag flag, ObsBits obs) {
  memory_.note(action, flag, obs);
  if (filter_) { filter_->note(action, flag, obs); }
}

void BlueView::write(ObsBits obs, Row row) const {
  write_obs(obs, row.obs.first(kObsSize));
  std::span<float> rest = row.obs.subspan(kObsSize);
  if (show_order_) {
    write_order(order_, rest.first(kOrderSize));
    rest = rest.subspan(kOrderSize);
  }
  if (show_memory_) {
    memory_.write(rest.first(Memory::kSize));
    rest = rest.subspan(Memory::kSize);
  }
  if (filter_) { filter_->write(rest.first(BeliefFilter::kSize)); }
  if (masks()) {
    write_mask(obs, memory_, mask_ == ActionMask::order ? &order_ : nullptr, row.legal);
  }
}

}  // namespace penstock::cage2
