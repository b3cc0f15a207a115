#pragma once
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "penstock/domains/booking/env/beliefs.h"
#include "penstock/domains/booking/env/booking.h"
#include "penstock/domains/booking/env/dvrptw.h"
#include "penstock/domains/booking/env/obs_writer.h"

namespace penstock::booking {

enum class MaskKind : std::uint8_t { none, known, bayes, learnt };
enum class Versus : std::uint8_t { none, null, myopic };
enum class MaskFrom : std::uint8_t { argmax, sample, soft };

/// A config's words as values, made once.
struct DvrptwParts {
  explicit DvrptwParts(const DvrptwConfig& config);

  BookingRules rules;
  std::unique_ptr<Generator> generator;
  MaskKind mask;
  MaskFrom mask_from;
  Versus versus;
  Pricing pricing;
  ObsWriter obs_writer;
  EnvSpec spec;
};

/// Of the embedding, in steps of all envs.
std::int64_t steps_between_trainings(const DvrptwConfig& config, std::size_t num_envs);

class DvrptwEnv final : public VecEnv, private SharedLearner {
 public:
  DvrptwEnv(const DvrptwConfig& config, EnvSlice slice, std::uint64_t seed,
            OracleMaker make_oracle);

  [[nodiscard]] const EnvSpec& spec() const override { return parts_.spec; }
  [[nodiscard]] std::size_t num_envs() const override { return slots_.size(); }
  void seed(std::size_t env, std::uint64_t seed) override;
  void reset(EnvRange range, ObsRows next) override;
  void step(EnvRange range, ActionRows actions, ObsRows next, OutcomeRows outcome) override;
  void save(std::size_t env, std::vector<std::byte>& out) const override;
  void load(std::size_t env, std::span<const std::byte> bytes) override;

  SharedLearner* shared() override { return this; }

 private:
  /// One env.
  struct Slot {
    Slot(std::size_t num_customers, std::size_t max_samples)
        : notes(num_customers, max_samples), types(num_customers) {}
    Booking booking;
    Booking twin;  // the same day as `env.versus` plays it
    Notes notes;
    Random mask_random;
    std::uint64_t episode = 0;  // the number of the next one
    double total_reward = 0;
    double epsilon = 0;
    std::vector<Flexibility> types;  // [C], of the notes' generation
    ObsCache cache;                  // of the booking

    template <class Archive>
    void state(Archive& archive) {
      archive(booking, twin, notes, mask_random, episode, total_reward, epsilon);
    }
  };
  /// What a thread needs to step a range. Kept for whoever comes next.
  struct Workspace {
    explicit Workspace(Pricing pricing) : quoter(pricing) {}
    std::unique_ptr<RoutingOracle> oracle;
    std::vector<RoutingProblem> problems;
    Quoter quoter;
  };
  class WorkspaceLease;

  // What all envs learn together: their beliefs about customers.
  void begin_evaluation() override { evaluates_ = true; }
  void between_rollouts(const Join& join) override;
  [[nodiscard]] std::vector<Notes> joined_notes(const Join& join) const;
  std::vector<std::pair<std::string, double>> take_metrics() override;
  void save(std::vector<std::byte>& out) const override { beliefs_.save(out); }
  void load(std::span<const std::byte> bytes) override { beliefs_.load(bytes); }

  void begin_episode(std::size_t env, Workspace& bench, Row row);
  /// The env's number in the run.
  [[nodiscard]] std::uint32_t number_of(std::size_t env) const {
    return static_cast<std::uint32_t>(first_ + env);
  }
  std::uint64_t next_seed(std::size_t env);
  void draw_people(std::size_t env);
  [[nodiscard]] std::uint64_t generation_now(std::size_t env) const;
  void write(Slot& slot, Workspace& bench, Row row) const;
  [[nodiscard]] Belief belief_of(const Slot& slot) const;
  void write_mask(Slot& slot, const Belief& belief, std::span<bool> legal) const;
  void end_episode(std::size_t env, Workspace& bench, Row row, std::span<float> final_obs,
                   EpisodeEnd& end);
  [[nodiscard]] Row row(ObsRows rows, std::size_t k) const;
  [[nodiscard]] std::int32_t twin_offer(const Slot& slot, Workspace& bench) const;

  DvrptwConfig config_;
  DvrptwParts parts_;
  std::uint64_t seed_;
  std::size_t first_;
  bool evaluates_ = false;  // masks hold, and no type is drawn for them
  SharedBeliefs beliefs_;
  std::vector<Slot> slots_;
  std::vector<std::optional<std::uint64_t>> own_seeds_;  // [N], of envs that were given one
  OracleMaker make_oracle_;
  std::mutex mutex_;  // of idle_
  std::vector<std::unique_ptr<Workspace>> idle_;
};

}  // namespace penstock::booking
