#include "penstock/domains/booking/env/flexibility_model.h"

#include <algorithm>
#include <cmath>

#include "penstock/core/base/shuffle.h"

namespace penstock::booking {
namespace {

constexpr std::size_t kWidth = FlexibilityModel::kWidth;
constexpr std::size_t kSmallestBatch = 256;
constexpr std::size_t kMostBatches = 32;  // of an epoch: enough for Adam, and soon done
constexpr double kLearningRate = 0.01;
constexpr double kMeanDecay = 0.9;
constexpr double kSquareDecay = 0.999;
constexpr double kAdamEpsilon = 1e-8;
// Chances are held this far from 0 and 1, so that a surprise costs much and not everything.
constexpr double kDoubt = 0.005;
// Half of this times a logit's square is added to the loss: logits stay within about 5.
constexpr double kPull = 0.002;
constexpr std::uint32_t kWeightsOwner = 0x666c6578;  // its own places in the seed's randomness
constexpr std::uint32_t kShuffleOwner = 0x73687566;

/// Where each part lies in the flat weights.
struct Places {
  explicit Places(std::size_t num_customers)
      : hidden(num_customers * kWidth),
        hidden_bias(hidden + kWidth * kWidth),
        types(hidden_bias + kWidth),
        types_bias(types + kWidth * kNumTypes),
        size(types_bias + kNumTypes) {}
  std::size_t hidden;
  std::size_t hidden_bias;
  std::size_t types;
  std::size_t types_bias;
  std::size_t size;
};

/// Four sums side by side: one alone would wait for itself at every step.
double dot(const double* x, const double* y) {
  std::array<double, 4> sum{};
  for (std::size_t i = 0; i < kWidth; i += sum.size()) {
    for (std::size_t k = 0; k < sum.size(); ++k) { sum[k] += x[i + k] * y[i + k]; }
  }
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

void add_scaled(double* sum, double scale, const double* x) {
  for (std::size_t i = 0; i < kWidth; ++i) { sum[i] += scale * x[i]; }
}

}  // namespace

FlexibilityModel::FlexibilityModel(std::size_t num_customers, const AnswerModel& answers,
                                   std::uint64_t seed)
    : answers_(answers),
      seed_(seed),
      weights_(Places(num_customers).size),
      mean_(weights_.size()),
      square_(weights_.size()),
      hidden_(num_customers * kWidth),
      logits_(num_customers),
      beliefs_(num_customers) {
  const Places at(num_customers);
  Random random({.seed = seed, .owner = kWeightsOwner, .stream = Stream::weights});
  const double scale = 1 / std::sqrt(kWidth);
  for (std::size_t i = 0; i < at.hidden; ++i) { weights_[i] = random.normal(); }
  for (std::size_t i = at.hidden; i < at.hidden_bias; ++i) {
    weights_[i] = scale * random.normal();
  }
  refresh();  // the last layer is zero: all types are as likely
}

void FlexibilityModel::refresh() {
  for (std::size_t c = 0; c < num_customers(); ++c) { forward(c); }
}

void FlexibilityModel::forward(std::size_t customer) {
  const Places at(num_customers());
  const double* embedding = weights_.data() + customer * kWidth;
  double* hidden = hidden_.data() + customer * kWidth;
  std::copy_n(weights_.data() + at.hidden_bias, kWidth, hidden);
  for (std::size_t k = 0; k < kWidth; ++k) {
    add_scaled(hidden, embedding[k], weights_.data() + at.hidden + k * kWidth);
  }
  for (std::size_t k = 0; k < kWidth; ++k) { hidden[k] = std::tanh(hidden[k]); }
  Belief& logits = logits_[customer];
  for (std::size_t type = 0; type < kNumTypes; ++type) {
    logits[type] =
        weights_[at.types_bias + type] + dot(hidden, weights_.data() + at.types + type * kWidth);
  }
  beliefs_[customer] = BayesFilter::posterior(logits);  // a softmax
}

/// `slope` is the loss by each type's probability.
void FlexibilityModel::backward(std::size_t customer, const Belief& slope,
                                std::span<double> gradient) {
  const Places at(num_customers());
  const double* embedding = weights_.data() + customer * kWidth;
  const double* hidden = hidden_.data() + customer * kWidth;
  const Belief& p = beliefs_[customer];
  const double pull = kPull / num_customers();
  double mean_slope = 0;
  for (std::size_t type = 0; type < kNumTypes; ++type) { mean_slope += p[type] * slope[type]; }

  std::array<double, kWidth> by_hidden{};
  for (std::size_t type = 0; type < kNumTypes; ++type) {
    const double by_logit = p[type] * (slope[type] - mean_slope) + pull * logits_[customer][type];
    gradient[at.types_bias + type] += by_logit;
    add_scaled(gradient.data() + at.types + type * kWidth, by_logit, hidden);
    add_scaled(by_hidden.data(), by_logit, weights_.data() + at.types + type * kWidth);
  }
  for (std::size_t k = 0; k < kWidth; ++k) { by_hidden[k] *= 1 - hidden[k] * hidden[k]; }
  add_scaled(gradient.data() + at.hidden_bias, 1, by_hidden.data());
  for (std::size_t k = 0; k < kWidth; ++k) {
    const std::size_t row = at.hidden + k * kWidth;
    add_scaled(gradient.data() + row, embedding[k], by_hidden.data());
    gradient[customer * kWidth + k] += dot(weights_.data() + row, by_hidden.data());
  }
}

double FlexibilityModel::loss(std::span<const AnswerSample> samples, std::span<double> gradient) {
  std::vector<Belief> slope(num_customers());
  const double share = 1.0 / samples.size();
  double sum = 0;
  for (const AnswerSample& sample : samples) {
    const double chance = answers_.acceptance(beliefs_[sample.customer], sample.offer);
    const double held = kDoubt + (1 - 2 * kDoubt) * chance;
    const double right = sample.taken != 0 ? held : 1 - held;
    sum -= std::log(right);
    const double by_chance = (sample.taken != 0 ? -1 : 1) * (1 - 2 * kDoubt) / right * share;
    for (std::size_t type = 0; type < kNumTypes; ++type) {
      slope[sample.customer][type] += by_chance * answers_.acceptance(type, sample.offer);
    }
  }
  double squares = 0;
  for (std::size_t c = 0; c < num_customers(); ++c) {
    backward(c, slope[c], gradient);
    for (const double logit : logits_[c]) { squares += logit * logit; }
  }
  return sum * share + kPull / 2 * squares / num_customers();
}

void FlexibilityModel::adam_step(std::span<const double> gradient) {
  ++num_steps_;
  const double steps = num_steps_;
  const double rate = kLearningRate / (1 - std::pow(kMeanDecay, steps));
  const double correction = 1 / (1 - std::pow(kSquareDecay, steps));
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    mean_[i] = kMeanDecay * mean_[i] + (1 - kMeanDecay) * gradient[i];
    square_[i] = kSquareDecay * square_[i] + (1 - kSquareDecay) * gradient[i] * gradient[i];
    weights_[i] -= rate * mean_[i] / (std::sqrt(square_[i] * correction) + kAdamEpsilon);
  }
  refresh();
}

std::vector<double> FlexibilityModel::train(std::span<const AnswerSample> samples,
                                            std::int64_t epochs) {
  std::vector<double> losses;
  if (samples.empty()) { return losses; }
  std::vector<AnswerSample> shuffled(samples.begin(), samples.end());
  std::vector<double> gradient(weights_.size());
  const std::size_t batch = std::max(kSmallestBatch, samples.size() / kMostBatches);
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
    Random random({.seed = seed_,
                   .owner = kShuffleOwner,
                   .episode = num_epochs_++,
                   .stream = Stream::shuffle});
    shuffle(shuffled, random);
    double sum = 0;
    for (std::size_t begin = 0; begin < shuffled.size(); begin += batch) {
      const auto part =
          std::span(shuffled).subspan(begin, std::min(batch, shuffled.size() - begin));
      std::ranges::fill(gradient, 0.0);
      sum += loss(part, gradient) * part.size();
      adam_step(gradient);
    }
    losses.push_back(sum / shuffled.size());
  }
  return losses;
}

}  // namespace penstock::booking
