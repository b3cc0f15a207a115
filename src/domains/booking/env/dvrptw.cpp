#include "penstock/domains/booking/env/dvrptw.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "domains/booking/env/dvrptw_env.h"
#include "penstock/core/base/errors.h"

namespace penstock::booking {
namespace {

constexpr Seconds kMinute = 60;

Cost paid_for_km(double km, CostUnit unit) { return std::llround(km * cost_of_km(unit)); }

MaskKind mask_of(const std::string& word) {
  return word == "known"    ? MaskKind::known
         : word == "bayes"  ? MaskKind::bayes
         : word == "learnt" ? MaskKind::learnt
                            : MaskKind::none;
}

ObsWriter::Options obs_of(const DvrptwConfig& config, const Generator& generator) {
  return {.kind = config.obs == "list"   ? ObsKind::list
                  : config.obs == "hist" ? ObsKind::hist
                                         : ObsKind::set,
          .values = config.values && config.obs != "set",
          .belief = config.belief,
          .num_customers = static_cast<std::size_t>(config.customers),
          .side = generator.side()};
}

class Factory final : public EnvFactory {
 public:
  explicit Factory(OracleMaker make_oracle) : make_oracle_(std::move(make_oracle)) {}
  std::vector<Field> fields() override { return fields_of(config_, "env."); }
  [[nodiscard]] EnvSpec spec() const override { return DvrptwParts(config_).spec; }
  [[nodiscard]] std::vector<std::string> notes(std::size_t num_envs) const override {
    std::vector<std::string> lines = {fmt::format("customers {}, vehicles {}, planned by {}",
                                                  config_.customers, config_.vehicles,
                                                  config_.oracle)};
    if (config_.mask == "learnt") {
      lines.push_back(fmt::format(
          "embedding learns every {} steps ({}), {} epochs over the last {} answers at most",
          steps_between_trainings(config_, num_envs), config_.embedding, config_.embedding_epochs,
          config_.embedding_buffer));
    }
    return lines;
  }
  [[nodiscard]] std::unique_ptr<VecEnv> make_slice(EnvSlice slice,
                                                   std::uint64_t seed) const override {
    return std::make_unique<DvrptwEnv>(config_, slice, seed, make_oracle_);
  }

 private:
  DvrptwConfig config_;
  OracleMaker make_oracle_;
};

}  // namespace

BookingRules rules_of(const DvrptwConfig& config) {
  if (config.lost != 0 && config.lost < config.unserved) {
    throw UsageError(fmt::format(
        "env.lost = {} is less than env.unserved = {}: a policy would earn by sending customers "
        "away; set env.lost to {} or more, or leave it 0",
        config.lost, config.unserved, config.unserved));
  }
  const CostUnit unit = unit_of(config.generator);
  const bool shift = config.offer == "shift" || (config.offer == "auto" && config.mode == "ride");
  return {.offer = shift ? OfferKind::shift : OfferKind::widen,
          .answers = AnswerModel(config.answer, config.eta),
          .per_minute = paid_for_km(config.rho, unit),
          .rejection = paid_for_km(config.rejection, unit),
          .unserved = paid_for_km(config.unserved, unit),
          .walk_away = config.walk_away,
          .lost = paid_for_km(config.lost != 0 ? config.lost : config.unserved, unit),
          .unit = unit};
}

std::unique_ptr<Generator> generator_of(const DvrptwConfig& config) {
  const GeneratorConfig generator{.mode = config.mode == "ride" ? Mode::ride : Mode::deliver,
                                  .requests = static_cast<std::int32_t>(config.customers),
                                  .vehicles = static_cast<std::int32_t>(config.vehicles),
                                  .capacity = static_cast<std::int32_t>(config.capacity),
                                  .window = static_cast<Seconds>(config.window_minutes) * kMinute,
                                  .max_ride = static_cast<Seconds>(config.max_ride) * kMinute,
                                  .file = config.file};
  return make_generator(config.generator, generator);
}

Pricing pricing_of(const DvrptwConfig& config) {
  return config.prices == "relocate" ? Pricing::relocate : Pricing::insertion;
}

ObsWriter obs_writer_of(const DvrptwConfig& config) {
  return {obs_of(config, *generator_of(config)), rules_of(config)};
}

DvrptwParts::DvrptwParts(const DvrptwConfig& config)
    : rules(rules_of(config)),
      generator(generator_of(config)),
      mask(mask_of(config.mask)),
      mask_from(config.mask_from == "sample" ? MaskFrom::sample
                : config.mask_from == "soft" ? MaskFrom::soft
                                             : MaskFrom::argmax),
      versus(config.versus == "null"     ? Versus::null
             : config.versus == "myopic" ? Versus::myopic
                                         : Versus::none),
      pricing(pricing_of(config)),
      obs_writer(obs_of(config, *generator), rules) {
  if (config.strangers && mask == MaskKind::learnt) {
    throw UsageError(
        "env.mask=learnt learns of people that all envs share: set env.strangers=false, or "
        "env.mask=bayes");
  }
  spec.obs = obs_writer.layout();
  spec.action = Discrete{.n = kOffers, .masked = mask != MaskKind::none};
  spec.max_episode_steps = config.customers;
  spec.stats = {std::string("cost_") + name_of(rules.unit), "failure_rate", "acceptance",
                "shifted_minutes"};
}

std::unique_ptr<VecEnv> make_dvrptw(const DvrptwConfig& config, std::size_t num_envs,
                                    std::uint64_t seed, const OracleMaker& make_oracle) {
  return std::make_unique<DvrptwEnv>(config, EnvSlice{.first = 0, .count = num_envs}, seed,
                                     make_oracle);
}

std::vector<EnvEntry> routing_envs(OracleMaker make_oracle) {
  return {
      {"dvrptw", "booking under time windows: which change of the window to offer each caller",
       [make_oracle = std::move(make_oracle)] { return std::make_unique<Factory>(make_oracle); }}};
}

}  // namespace penstock::booking
