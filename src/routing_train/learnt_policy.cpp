#include "penstock/routing_train/learnt_policy.h"

#include <vector>

namespace penstock::routing {
namespace {

class LearntPolicy final : public OfferPolicy {
 public:
  LearntPolicy(const DvrptwConfig& config, const Actor& actor, std::size_t shard)
      : observer_(observer_of(config)),
        quoter_(pricing_of(config)),
        known_(config.mask == "known"),
        soft_(config.mask_from == "soft"),
        actor_(actor),
        shard_(shard),
        obs_(observer_.layout().size()),
        params_(kNumOffers) {
    if (config.mask != "none") { legal_.resize(kNumOffers); }
  }

  std::int32_t choose(const Situation& situation) override {
    const Booking& booking = situation.booking;
    if (booking.request() == 0) { sketch_.begin(booking, observer_.side()); }
    sketch_.follow(booking);
    observer_.write(booking, sketch_, situation.belief, quoter_, obs_);
    if (actor_.normaliser != nullptr) { actor_.normaliser->apply(obs_); }
    const Flexibility type = known_ ? situation.type : likeliest(situation.belief);
    for (std::size_t a = 0; a < legal_.size(); ++a) {
      const bool legal =
          soft_ && !known_ ? situation.rules.answers.likely(situation.belief, a) : allows(type, a);
      legal_[a] = legal ? 1 : 0;
    }
    actor_.policy.infer(shard_, {.num_rows = 1, .obs = obs_, .params = params_});
    std::int32_t best = kNoChange;  // which every mask allows
    for (std::int32_t a = 0; a < kOffers; ++a) {
      const auto i = static_cast<std::size_t>(a);
      const bool legal = legal_.empty() || legal_[i] != 0;
      if (legal && params_[i] > params_[static_cast<std::size_t>(best)]) { best = a; }
    }
    return best;
  }

 private:
  Observer observer_;
  Quoter quoter_;
  bool known_;
  bool soft_;
  Actor actor_;
  std::size_t shard_;
  Sketch sketch_;
  std::vector<float> obs_;
  std::vector<float> params_;
  std::vector<char> legal_;  // empty: all are
};

}  // namespace

std::unique_ptr<OfferPolicy> make_learnt_policy(const DvrptwConfig& config, const Actor& actor,
                                                std::size_t shard) {
  return std::make_unique<LearntPolicy>(config, actor, shard);
}

}  // namespace penstock::routing
