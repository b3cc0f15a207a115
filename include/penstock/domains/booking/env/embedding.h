#pragma once
#include <cstddef>
#include <cstdint>
#include <future>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "penstock/core/base/archive.h"
#include "penstock/domains/booking/env/flexibility_model.h"

namespace penstock::booking {

/// The learnt beliefs of a run: a bounded buffer of answers and when to learn from it. What it
/// believes changes in update() only and is a function of the samples given, in the background too:
/// the result of a training that begins in one update is taken in the next, early or late.
/// Not thread-safe; the training in the background is its own.
class Embedding {
 public:
  struct Options {
    std::size_t num_customers = 30;
    std::size_t capacity = 64'000;   // samples kept, the newest
    std::int64_t interval = 19'200;  // steps between trainings
    std::int64_t epochs = 50;
    bool background = false;
    std::uint64_t seed = 1;
  };
  /// Begins with all types equally likely.
  Embedding(const Options& options, const AnswerModel& answers);

  /// Adds what was answered during `num_steps` steps, in this order, and learns when it is
  /// time.
  void update(std::span<const AnswerSample> samples, std::int64_t num_steps);
  /// Other people: what was learnt is forgotten.
  void forget();

  [[nodiscard]] const std::vector<Belief>& beliefs() const { return model_.beliefs(); }  // [C]
  [[nodiscard]] std::size_t num_samples() const { return buffer_.size(); }
  /// The loss of each epoch of the last training whose result is in use; empties the list.
  std::vector<double> take_losses() { return std::exchange(losses_, {}); }

  /// Waits for a training in the background.
  void save(std::vector<std::byte>& out) const;
  /// Throws DataError.
  void load(StateReader& reader);

 private:
  struct Trained {
    FlexibilityModel model;
    std::vector<double> losses;
  };
  [[nodiscard]] static Trained train(FlexibilityModel model,
                                     const std::vector<AnswerSample>& samples, std::int64_t epochs);
  void take_result();
  void wait() const;

  Options options_;
  AnswerModel answers_;
  FlexibilityModel model_;
  std::vector<AnswerSample> buffer_;  // a ring once it is full
  std::uint64_t next_ = 0;            // where the next sample goes
  std::int64_t steps_ = 0;            // since the last training
  std::uint64_t people_ = 0;          // how often there were others
  std::vector<double> losses_;
  // A training in the background, and its result when that had to be waited for.
  mutable std::future<Trained> running_;
  mutable std::optional<Trained> result_;
};

}  // namespace penstock::booking
