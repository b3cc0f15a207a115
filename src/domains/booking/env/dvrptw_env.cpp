#include "domains/booking/env/dvrptw_env.h"

#include <algorithm>
#include <cmath>

#include "penstock/core/base/errors.h"
#include "penstock/domains/booking/env/offer_prices.h"

namespace penstock::booking {
namespace {

constexpr std::uint32_t kMaskOwner = 0x6d61736b;  // its own place in the day's randomness
constexpr std::size_t kMostThreads = 256;         // whose workbenches are kept without allocating

/// An env need not hold more than its share of the buffer.
std::size_t samples_per_env(const DvrptwConfig& config, std::size_t num_envs) {
  if (config.mask != "learnt") { return 0; }
  const auto share =
      static_cast<std::size_t>(config.embedding_buffer) / std::max<std::size_t>(1, num_envs);
  return std::max<std::size_t>(share, config.customers);
}

SharedBeliefs::Options belief_options(const DvrptwConfig& config, std::size_t num_envs) {
  const std::size_t customers = config.customers;
  SharedBeliefs::Options options;
  options.num_customers = customers;
  options.people = config.people;
  options.epsilon = config.epsilon;
  options.epsilon_decay = config.epsilon_decay;
  options.epsilon_floor = config.epsilon_floor;
  options.learns = config.mask == "learnt";
  options.embedding = {.num_customers = customers,
                       .capacity = static_cast<std::size_t>(config.embedding_buffer),
                       .interval = steps_between_trainings(config, num_envs),
                       .epochs = config.embedding_epochs,
                       .background = config.embedding == "async",
                       .seed = config.people};
  return options;
}

void write_stats(const Booking& booking, CostUnit unit, std::array<double, kMaxStats>& stats) {
  const DayTally& tally = booking.tally();
  const double requests = std::max(1, tally.requests);
  stats[0] = in_unit(booking.cost(), unit);
  stats[1] = (tally.unserved + tally.left) / requests;
  stats[2] = tally.taken / std::max<double>(1, tally.asked);
  stats[3] = tally.minutes / requests;
}

Belief certain_of(Flexibility type) {
  Belief belief{};
  belief[static_cast<std::size_t>(type)] = 1;
  return belief;
}

/// The type at a place between 0 and 1 of the belief laid end to end.
Flexibility type_at(double place, const Belief& belief) {
  for (std::size_t type = 0; type < kNumTypes; ++type) {
    if (place < belief[type]) { return static_cast<Flexibility>(type); }
    place -= belief[type];
  }
  return likeliest(belief);  // what rounding left over
}

}  // namespace

std::int64_t steps_between_trainings(const DvrptwConfig& config, std::size_t num_envs) {
  constexpr std::int64_t kDays = 10;
  if (config.embedding_interval > 0) { return config.embedding_interval; }
  return kDays * num_envs * config.customers;
}

/// A workbench for the time of a call. Which one it is does not matter: they keep memory only.
class DvrptwEnv::WorkspaceLease {
 public:
  explicit WorkspaceLease(DvrptwEnv& env) : env_(env) {
    {
      const std::scoped_lock lock(env_.mutex_);
      if (!env_.idle_.empty()) {
        bench_ = std::move(env_.idle_.back());
        env_.idle_.pop_back();
      }
    }
    if (!bench_) {
      bench_ = std::make_unique<Workspace>(env_.parts_.pricing);
      bench_->oracle = env_.make_oracle_(env_.config_.oracle);
      bench_->problems.reserve(2 * env_.slots_.size());
    }
  }
  ~WorkspaceLease() {
    const std::scoped_lock lock(env_.mutex_);
    env_.idle_.push_back(std::move(bench_));
  }
  WorkspaceLease(const WorkspaceLease&) = delete;
  WorkspaceLease& operator=(const WorkspaceLease&) = delete;
  Workspace& operator*() { return *bench_; }

 private:
  DvrptwEnv& env_;
  std::unique_ptr<Workspace> bench_;
};

DvrptwEnv::DvrptwEnv(const DvrptwConfig& config, EnvSlice slice, std::uint64_t seed,
                     OracleMaker make_oracle)
    : config_(config),
      parts_(config),
      seed_(seed),
      first_(slice.first),
      beliefs_(belief_options(config, slice.total()), parts_.rules.answers),
      own_seeds_(slice.count),
      make_oracle_(std::move(make_oracle)) {
  idle_.reserve(kMostThreads);
  const auto customers = static_cast<std::size_t>(config.customers);
  slots_.reserve(slice.count);
  for (std::size_t i = 0; i < slice.count; ++i) {
    slots_.emplace_back(customers, samples_per_env(config, slice.total()));
    draw_people(i);
  }
  // An unknown oracle is refused here, not in the first step.
  idle_.push_back(std::make_unique<Workspace>(parts_.pricing));
  idle_.back()->oracle = make_oracle_(config.oracle);
  idle_.back()->problems.reserve(2 * slice.count);
}

void DvrptwEnv::seed(std::size_t env, std::uint64_t seed) {
  Slot& slot = slots_[env];
  own_seeds_[env] = seed;
  slot.episode = 0;
  slot.notes.clear();
  slot.notes.begin_generation(0);
  draw_people(env);
}

std::uint64_t DvrptwEnv::next_seed(std::size_t env) {
  const std::uint64_t episode = slots_[env].episode++;
  if (own_seeds_[env]) { return episode_seed(*own_seeds_[env], 0, episode); }
  return episode_seed(seed_, number_of(env), episode);
}

void DvrptwEnv::draw_people(std::size_t env) {
  Slot& slot = slots_[env];
  const std::uint64_t own = own_seeds_[env] ? episode_seed(*own_seeds_[env], 0, 0)
                                            : episode_seed(seed_, number_of(env), 0);
  draw_types(config_.people + (config_.strangers ? own : 0), slot.notes.generation, slot.types);
}

std::uint64_t DvrptwEnv::generation_now(std::size_t env) const {
  const std::uint64_t stay = config_.stay_days;
  if (stay == 0) { return 0; }
  // Strangers come to one env after another, so that a rollout has seen people of every
  // acquaintance.
  const std::uint64_t ahead = config_.strangers && !own_seeds_[env] ? number_of(env) % stay : 0;
  return (slots_[env].episode + ahead) / stay;
}

void DvrptwEnv::begin_episode(std::size_t env, Workspace& bench, Row row) {
  Slot& slot = slots_[env];
  const std::uint64_t generation = generation_now(env);
  if (generation != slot.notes.generation) {
    slot.notes.begin_generation(generation);
    draw_people(env);
  }
  const std::uint64_t seed = next_seed(env);
  slot.booking.begin(*parts_.generator, seed);
  if (parts_.versus != Versus::none) { slot.twin.begin(*parts_.generator, seed); }
  slot.cache.begin(slot.booking, parts_.obs_writer.side());
  slot.mask_random = Random({.seed = seed, .owner = kMaskOwner});
  slot.epsilon = evaluates_ ? 0 : beliefs_.epsilon(slot.notes);
  slot.total_reward = 0;
  ++slot.notes.days;
  write(slot, bench, row);
}

void DvrptwEnv::reset(EnvRange range, ObsRows next) {
  WorkspaceLease bench(*this);
  for (std::size_t i = range.begin; i < range.end; ++i) {
    begin_episode(i, *bench, row(next, i - range.begin));
  }
}

void DvrptwEnv::step(EnvRange range, ActionRows actions, ObsRows next, OutcomeRows outcome) {
  WorkspaceLease lent(*this);
  Workspace& bench = *lent;
  bench.problems.clear();
  for (std::size_t i = range.begin; i < range.end; ++i) {
    Slot& slot = slots_[i];
    const std::size_t customer = slot.booking.customer();
    const std::int32_t action = actions.choices[i - range.begin];
    if (parts_.versus != Versus::none) {
      const auto same =
          slot.twin.offer(twin_offer(slot, bench), slot.types[customer], parts_.rules);
      if (same.stays) { bench.problems.push_back(slot.twin.problem()); }
    }
    const auto answer = slot.booking.offer(action, slot.types[customer], parts_.rules);
    slot.notes.add(customer, action, answer.taken);
    if (answer.stays) { bench.problems.push_back(slot.booking.problem()); }
  }
  bench.oracle->solve(bench.problems);

  auto solved = bench.problems.begin();
  for (std::size_t i = range.begin; i < range.end; ++i) {
    const std::size_t k = i - range.begin;
    Booking& booking = slots_[i].booking;
    const auto finish = [&](Booking& day) {
      const bool stayed = solved != bench.problems.end() && solved->instance == &day.instance();
      return day.finish(stayed ? &*solved++ : nullptr, parts_.rules);
    };
    const Cost reference = parts_.versus == Versus::none ? 0 : finish(slots_[i].twin);
    const Cost reward = finish(booking) - reference;
    outcome.reward[k] = in_unit(reward, parts_.rules.unit);
    outcome.terminated[k] = booking.over();
    outcome.truncated[k] = false;
    slots_[i].total_reward += outcome.reward[k];
    slots_[i].cache.follow(booking);
    write(slots_[i], bench, row(next, k));
    if (booking.over()) {
      const std::size_t features = parts_.spec.obs.size();
      end_episode(i, bench, row(next, k), outcome.final_obs.subspan(k * features, features),
                  outcome.episode[k]);
    }
  }
}

std::int32_t DvrptwEnv::twin_offer(const Slot& slot, Workspace& bench) const {
  if (parts_.versus == Versus::null) { return kNoChange; }
  const std::size_t customer = slot.twin.customer();
  const Belief belief = beliefs_.posterior(customer, slot.notes);
  bench.quoter.load(slot.twin);
  return best_offer(bench.quoter.quote(parts_.rules.offer),
                    chances_of(parts_.rules.answers, belief), parts_.rules);
}

void DvrptwEnv::end_episode(std::size_t env, Workspace& bench, Row row, std::span<float> final_obs,
                            EpisodeEnd& end) {
  const Slot& slot = slots_[env];
  end = {slot.total_reward, slot.booking.instance().num_requests(), Success::unknown};
  write_stats(slot.booking, parts_.rules.unit, end.stats);
  std::ranges::copy(row.obs, final_obs.begin());
  begin_episode(env, bench, row);
}

Row DvrptwEnv::row(ObsRows rows, std::size_t k) const {
  const std::size_t features = parts_.spec.obs.size();
  Row out{rows.obs.subspan(k * features, features), {}};
  if (parts_.mask != MaskKind::none) { out.legal = rows.legal.subspan(k * kNumOffers, kNumOffers); }
  return out;
}

Belief DvrptwEnv::belief_of(const Slot& slot) const {
  const std::size_t customer = slot.booking.customer();
  if (parts_.mask == MaskKind::learnt) { return beliefs_.learnt(customer, slot.notes); }
  if (parts_.mask != MaskKind::known) { return beliefs_.posterior(customer, slot.notes); }
  return certain_of(slot.types[customer]);
}

void DvrptwEnv::write(Slot& slot, Workspace& bench, Row row) const {
  Belief belief{};
  const bool over = slot.booking.over();
  if (!over && (parts_.mask != MaskKind::none || parts_.obs_writer.needs_belief())) {
    belief = belief_of(slot);
  }
  parts_.obs_writer.write(slot.booking, slot.cache, belief, bench.quoter, row.obs);
  if (row.legal.empty()) { return; }
  if (over) {
    std::ranges::fill(row.legal, true);
  } else {
    write_mask(slot, belief, row.legal);
  }
}

void DvrptwEnv::write_mask(Slot& slot, const Belief& belief, std::span<bool> legal) const {
  // Two draws whatever the mask is made from, so that its kinds remain comparable.
  const bool ignored = slot.mask_random.uniform() < slot.epsilon;
  const double place = slot.mask_random.uniform();
  if (ignored && parts_.mask != MaskKind::known) {
    std::ranges::fill(legal, true);
    return;
  }
  if (parts_.mask_from == MaskFrom::soft) {
    for (std::size_t offer = 0; offer < kNumOffers; ++offer) {
      legal[offer] = parts_.rules.answers.likely(belief, offer);
    }
    return;
  }
  const bool by_sample = parts_.mask_from == MaskFrom::sample && !evaluates_;
  compute_mask_from_belief(by_sample ? certain_of(type_at(place, belief)) : belief,
                           legal.first<kNumOffers>());
}

void DvrptwEnv::save(std::size_t env, std::vector<std::byte>& out) const {
  StateWriter writer(out);
  writer(slots_[env]);
}

void DvrptwEnv::load(std::size_t env, std::span<const std::byte> bytes) {
  StateReader reader(bytes);
  Slot& slot = slots_[env];
  slot.state(reader);
  if (!reader.empty()) { throw DataError("env state: more bytes than this env has"); }
  if (!slot.notes.fits(slot.types.size())) {
    throw DataError("env state: the notes are about another number of customers");
  }
  slot.booking.restore(*parts_.generator, parts_.rules.offer);
  if (parts_.versus != Versus::none) { slot.twin.restore(*parts_.generator, parts_.rules.offer); }
  slot.cache.begin(slot.booking, parts_.obs_writer.side());
  draw_people(env);
}

void DvrptwEnv::between_rollouts(const Join& join) {
  if (config_.strangers) { return; }  // what an env has noted is of no use to the others
  std::vector<Notes> everywhere;
  if (join) { everywhere = joined_notes(join); }
  std::vector<Notes*> notes;
  notes.reserve(everywhere.size() + slots_.size());
  for (Notes& each : everywhere) { notes.push_back(&each); }
  for (Slot& slot : slots_) {
    if (join) {
      slot.notes.clear();
    } else {
      notes.push_back(&slot.notes);
    }
  }
  beliefs_.merge(notes);
}

/// Of all envs of the run.
std::vector<Notes> DvrptwEnv::joined_notes(const Join& join) const {
  std::vector<std::byte> here;
  StateWriter writer(here);
  for (const Slot& slot : slots_) { writer(slot.notes); }
  const std::vector<std::byte> bytes = join(here);
  StateReader reader(bytes);
  std::vector<Notes> all;
  while (!reader.empty()) {
    all.emplace_back(0, 0);
    reader(all.back());
  }
  return all;
}

std::vector<std::pair<std::string, double>> DvrptwEnv::take_metrics() {
  if (config_.strangers) { return {}; }
  return beliefs_.take_metrics();
}

}  // namespace penstock::booking
