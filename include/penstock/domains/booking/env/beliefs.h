#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "penstock/domains/booking/env/answers.h"
#include "penstock/domains/booking/env/embedding.h"

namespace penstock::booking {

/// The hidden types of customers [C]: a function of (people, generation), the same for every env.
void draw_types(std::uint64_t people, std::uint64_t generation, std::span<Flexibility> types);

/// What one env has seen since the beliefs were last merged.
/// One per env, touched by the thread that steps it.
struct Notes {
  std::uint64_t generation = 0;  // of the people it was seen of
  std::int64_t steps = 0;
  std::int64_t days = 0;              // begun
  std::vector<AnswerCounts> counts;   // [C]
  std::vector<AnswerSample> samples;  // the newest, a ring once it is full; for an embedding
  std::uint64_t next_sample = 0;

  /// `max_samples` 0: no samples are kept.
  Notes(std::size_t num_customers, std::size_t max_samples);
  /// A step and its answer. An offer that changes nothing counts as a step alone.
  void add(std::size_t customer, std::size_t offer, bool taken);
  /// Other people.
  void begin_generation(std::uint64_t number);
  void clear();
  /// Whether loaded notes are about that many customers.
  [[nodiscard]] bool fits(std::size_t num_customers) const;

  template <class Archive>
  void state(Archive& archive) {
    archive(generation, steps, days, counts, samples, next_sample);
  }

 private:
  std::size_t max_samples_;
};

/// What all envs know together of the people; fixed during a rollout.
class SharedBeliefs {
 public:
  struct Options {
    std::size_t num_customers = 30;
    std::uint64_t people = 1;     // seed of the hidden types, for the metrics
    double epsilon = 0.2;         // in the beginning
    double epsilon_decay = 0.95;  // per epoch, a day of every env
    double epsilon_floor = 0.02;
    bool learns = false;  // keeps an embedding
    Embedding::Options embedding;
  };
  /// posterior(), learnt() and epsilon() may be called from several threads; all else comes between
  /// rollouts.
  SharedBeliefs(const Options& options, const AnswerModel& answers);

  /// Bayes' posterior of what all envs had seen before and this one has seen since.
  [[nodiscard]] Belief posterior(std::size_t customer, const Notes& notes) const;
  /// The embedding's belief; all types are equally likely without an embedding, or for other
  /// people.
  [[nodiscard]] Belief learnt(std::size_t customer, const Notes& notes) const;
  /// The probability that a mask is ignored, for an env with these notes.
  [[nodiscard]] double epsilon(const Notes& notes) const;

  /// Merges the notes in this order, and clears them.
  void merge(std::span<Notes* const> notes);

  /// How good beliefs are, and how the last training went.
  std::vector<std::pair<std::string, double>> take_metrics();

  void save(std::vector<std::byte>& out) const;
  /// Throws DataError when the bytes are about other customers.
  void load(std::span<const std::byte> bytes);

 private:
  void begin_generation(std::uint64_t number);
  void refresh();

  Options options_;
  BayesFilter filter_;
  std::uint64_t generation_ = 0;
  double epochs_ = 0;
  std::vector<AnswerCounts> counts_;    // [C]
  std::vector<Belief> log_likelihood_;  // [C], of the counts
  std::unique_ptr<Embedding> embedding_;
  std::vector<AnswerSample> gathered_;  // scratch of merge()
};

}  // namespace penstock::booking
