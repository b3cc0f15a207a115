#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "penstock/core/base/archive.h"
#include "penstock/core/base/errors.h"
#include "penstock/domains/booking/env/answers.h"

namespace penstock::booking {

/// One answer to an offer.
/// Four bytes.
struct AnswerSample {
  std::uint16_t customer = 0;  // so at most 65536 of them
  std::uint8_t offer = 0;      // 0 to 15
  std::uint8_t taken = 0;      // 1: yes
  bool operator==(const AnswerSample&) const = default;

  template <class Archive>
  void state(Archive& archive) {
    archive(customer, offer, taken);
  }
};

/// A belief about each customer that is learnt instead of computed: an embedding of the customer, a
/// hidden layer and a softmax over types, trained by Adam to predict answers through the mixture
/// P(taken | offer) = sum over types of p(type) P(taken | type, offer). A pull of the logits
/// towards zero keeps every belief changeable by new answers: a softmax that is certain
/// learns nothing more. A function of its seed and of the samples; one thread.
class FlexibilityModel {
 public:
  static constexpr std::size_t kWidth = 64;  // of the embedding and of the hidden layer

  /// Knows nothing yet: all types are equally likely.
  FlexibilityModel(std::size_t num_customers, const AnswerModel& answers, std::uint64_t seed);

  /// Makes passes over the samples and returns the mean loss of each pass.
  std::vector<double> train(std::span<const AnswerSample> samples, std::int64_t epochs);

  [[nodiscard]] const std::vector<Belief>& beliefs() const { return beliefs_; }  // [C]
  [[nodiscard]] std::size_t num_customers() const { return beliefs_.size(); }

  /// The mean cross-entropy of the samples with the pull and, added to `gradient`, its slope by
  /// each weight.
  double loss(std::span<const AnswerSample> samples, std::span<double> gradient);
  [[nodiscard]] std::span<double> weights() { return weights_; }
  /// Must be called after weights were changed by hand.
  void refresh();

  /// Loading throws DataError when it is of another number of customers.
  template <class Archive>
  void state(Archive& archive) {
    const std::size_t expected = weights_.size();
    archive(weights_, mean_, square_, num_steps_, num_epochs_);
    if constexpr (Archive::kLoads) {
      if (weights_.size() != expected || mean_.size() != expected || square_.size() != expected) {
        throw DataError("env state: the embedding has another number of customers");
      }
      refresh();
    }
  }

 private:
  void forward(std::size_t customer);
  void backward(std::size_t customer, const Belief& slope, std::span<double> gradient);
  void adam_step(std::span<const double> gradient);

  AnswerModel answers_;
  std::uint64_t seed_;
  std::vector<double> weights_;  // embedding [C, 64], hidden [64, 64] and [64], types [64, 4], [4]
  std::vector<double> mean_;     // Adam's moments
  std::vector<double> square_;
  std::uint64_t num_steps_ = 0;
  std::uint64_t num_epochs_ = 0;  // shuffles so far
  std::vector<double> hidden_;    // [C, 64], of the last forward pass
  std::vector<Belief> logits_;    // [C]
  std::vector<Belief> beliefs_;   // [C]
};

}  // namespace penstock::booking
