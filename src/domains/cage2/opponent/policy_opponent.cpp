#include "penstock/domains/cage2/opponent/policy_opponent.h"

#include <utility>

#include "penstock/core/act/actor.h"

namespace penstock::cage2 {
namespace {

class PolicyOpponent final : public Opponent {
 public:
  explicit PolicyOpponent(std::shared_ptr<const PolicyModel> model)
      : actor_(make_actor(std::move(model))) {}

  std::int64_t choose(std::span<const float> obs, std::span<const bool> legal, std::uint64_t seed,
                      std::uint64_t step) override {
    std::int64_t choice = 0;
    const ActionNoise noise{.seed = seed, .step = step};
    actor_->act({.count = 1, .obs = obs, .legal = legal}, {.choices = {&choice, 1}}, &noise);
    return choice;
  }

 private:
  std::unique_ptr<Actor> actor_;
};

}  // namespace

OpponentEntry load_opponent(const std::string& path) {
  const std::shared_ptr<const PolicyModel> model = PolicyModel::load(path);
  return {.name = path, .spec = model->spec(), .make = [model] {
            return std::make_unique<PolicyOpponent>(model);
          }};
}

}  // namespace penstock::cage2
