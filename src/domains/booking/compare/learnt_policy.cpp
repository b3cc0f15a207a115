#include "penstock/domains/booking/compare/learnt_policy.h"

#include <array>
#include <span>
#include <vector>

namespace penstock::booking {
namespace {

class LearntPolicy final : public OfferPolicy {
 public:
  LearntPolicy(const DvrptwConfig& config, const std::shared_ptr<const PolicyModel>& model)
      : obs_writer_(obs_writer_of(config)),
        quoter_(pricing_of(config)),
        known_(config.mask == "known"),
        soft_(config.mask_from == "soft"),
        masked_(config.mask != "none"),
        actor_(make_actor(model)),
        obs_(obs_writer_.layout().size()) {}

  std::int32_t choose(const OfferContext& context) override {
    const Booking& booking = context.booking;
    if (booking.request() == 0) { cache_.begin(booking, obs_writer_.side()); }
    cache_.follow(booking);
    obs_writer_.write(booking, cache_, context.belief, quoter_, obs_);
    const std::array<bool, kNumOffers> legal = mask_of(context);
    std::int64_t best = 0;
    actor_->act({.count = 1,
                 .obs = obs_,
                 .legal = masked_ ? std::span<const bool>(legal) : std::span<const bool>()},
                {.choices = {&best, 1}});
    return best;
  }

 private:
  [[nodiscard]] std::array<bool, kNumOffers> mask_of(const OfferContext& context) const {
    std::array<bool, kNumOffers> legal{};
    if (known_) {
      compute_masks_from_flexibility({&context.type, 1}, legal);
    } else if (soft_) {
      for (std::size_t a = 0; a < legal.size(); ++a) {
        legal[a] = context.rules.answers.likely(context.belief, a);
      }
    } else {
      compute_mask_from_belief(context.belief, legal);
    }
    return legal;
  }

  ObsWriter obs_writer_;
  Quoter quoter_;
  bool known_;
  bool soft_;
  bool masked_;
  std::unique_ptr<Actor> actor_;
  ObsCache cache_;
  std::vector<float> obs_;
};

}  // namespace

std::unique_ptr<OfferPolicy> make_learnt_policy(const DvrptwConfig& config,
                                                const std::shared_ptr<const PolicyModel>& model) {
  return std::make_unique<LearntPolicy>(config, model);
}

}  // namespace penstock::booking
