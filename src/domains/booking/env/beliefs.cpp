#include "penstock/domains/booking/env/beliefs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "penstock/core/base/errors.h"

namespace penstock::booking {
namespace {

constexpr std::uint32_t kPeopleOwner = 0x70656f70;  // its own place in the seed's randomness
constexpr Belief kUnknown = {0.25, 0.25, 0.25, 0.25};

/// The oldest first.
void append_ring(const Notes& notes, std::vector<AnswerSample>& out) {
  const std::size_t size = notes.samples.size();
  for (std::size_t i = 0; i < size; ++i) {
    out.push_back(notes.samples[(notes.next_sample + i) % size]);
  }
}

double distance(const Belief& a, const Belief& b) {
  double sum = 0;
  for (std::size_t type = 0; type < kNumTypes; ++type) { sum += std::abs(a[type] - b[type]); }
  return sum / 2;
}

}  // namespace

void draw_types(std::uint64_t people, std::uint64_t generation, std::span<Flexibility> types) {
  Random random({.seed = people, .owner = kPeopleOwner, .episode = generation});
  for (Flexibility& type : types) { type = static_cast<Flexibility>(random.below(kNumTypes)); }
}

Notes::Notes(std::size_t num_customers, std::size_t max_samples)
    : counts(num_customers), max_samples_(max_samples) {
  samples.reserve(max_samples);
}

void Notes::add(std::size_t customer, std::size_t offer, bool taken) {
  ++steps;
  if (offer == kNoChange) { return; }  // everybody agrees to that
  ++counts[customer][offer][taken ? 1 : 0];
  if (max_samples_ == 0) { return; }
  const AnswerSample sample{static_cast<std::uint16_t>(customer), static_cast<std::uint8_t>(offer),
                            static_cast<std::uint8_t>(taken)};
  if (samples.size() < max_samples_) {
    samples.push_back(sample);
  } else {
    samples[next_sample] = sample;
    next_sample = (next_sample + 1) % max_samples_;
  }
}

void Notes::begin_generation(std::uint64_t number) {
  generation = number;
  std::ranges::fill(counts, AnswerCounts{});
  samples.clear();
  next_sample = 0;
}

void Notes::clear() {
  begin_generation(generation);
  steps = 0;
  days = 0;
}

bool Notes::fits(std::size_t num_customers) const {
  const auto known = [&](const AnswerSample& sample) {
    return sample.customer < num_customers && sample.offer < kNumOffers;
  };
  return counts.size() == num_customers && samples.size() <= max_samples_ &&
         (next_sample == 0 || next_sample < samples.size()) && std::ranges::all_of(samples, known);
}

SharedBeliefs::SharedBeliefs(const Options& options, const AnswerModel& answers)
    : options_(options),
      filter_(answers),
      counts_(options.num_customers),
      log_likelihood_(options.num_customers) {
  if (options.learns) { embedding_ = std::make_unique<Embedding>(options.embedding, answers); }
}

Belief SharedBeliefs::posterior(std::size_t customer, const Notes& notes) const {
  Belief sum = filter_.log_likelihood(notes.counts[customer]);
  if (notes.generation == generation_) {
    for (std::size_t type = 0; type < kNumTypes; ++type) {
      sum[type] += log_likelihood_[customer][type];
    }
  }
  return BayesFilter::posterior(sum);
}

Belief SharedBeliefs::learnt(std::size_t customer, const Notes& notes) const {
  const bool known = embedding_ && notes.generation == generation_;
  return known ? embedding_->beliefs()[customer] : kUnknown;
}

double SharedBeliefs::epsilon(const Notes& notes) const {
  const double epochs = epochs_ + notes.days;
  return std::max(options_.epsilon_floor,
                  options_.epsilon * std::pow(options_.epsilon_decay, epochs));
}

void SharedBeliefs::begin_generation(std::uint64_t number) {
  generation_ = number;
  std::ranges::fill(counts_, AnswerCounts{});
  if (embedding_) { embedding_->forget(); }
}

void SharedBeliefs::merge(std::span<Notes* const> notes) {
  std::int64_t steps = 0;
  std::int64_t days = 0;
  gathered_.clear();
  for (const Notes* each : notes) {
    if (each->generation > generation_) {
      begin_generation(each->generation);
      gathered_.clear();
    }
  }
  for (Notes* each : notes) {
    steps += each->steps;
    days += each->days;
    if (each->generation == generation_) {
      for (std::size_t c = 0; c < counts_.size(); ++c) {
        for (std::size_t offer = 0; offer < kNumOffers; ++offer) {
          counts_[c][offer][0] += each->counts[c][offer][0];
          counts_[c][offer][1] += each->counts[c][offer][1];
        }
      }
      append_ring(*each, gathered_);
    }
    each->clear();
  }
  epochs_ += static_cast<double>(days) / std::max<std::size_t>(1, notes.size());
  refresh();
  if (embedding_) { embedding_->update(gathered_, steps); }
}

void SharedBeliefs::refresh() {
  for (std::size_t c = 0; c < counts_.size(); ++c) {
    log_likelihood_[c] = filter_.log_likelihood(counts_[c]);
  }
}

std::vector<std::pair<std::string, double>> SharedBeliefs::take_metrics() {
  std::vector<Flexibility> types(counts_.size());
  draw_types(options_.people, generation_, types);
  const double customers = counts_.size();
  double bayes_right = 0;
  double learnt_right = 0;
  double apart = 0;
  Belief share{};
  for (std::size_t c = 0; c < counts_.size(); ++c) {
    const Belief bayes = BayesFilter::posterior(log_likelihood_[c]);
    bayes_right += likeliest(bayes) == types[c] ? 1 : 0;
    if (!embedding_) { continue; }
    const Belief& learnt = embedding_->beliefs()[c];
    learnt_right += likeliest(learnt) == types[c] ? 1 : 0;
    apart += distance(bayes, learnt);
    for (std::size_t type = 0; type < kNumTypes; ++type) { share[type] += learnt[type]; }
  }
  std::vector<std::pair<std::string, double>> metrics = {
      {"beliefs/bayes_accuracy", bayes_right / customers},
      {"beliefs/epsilon", epsilon(Notes(0, 0))}};
  if (!embedding_) { return metrics; }
  metrics.emplace_back("embedding/accuracy", learnt_right / customers);
  metrics.emplace_back("embedding/distance_to_bayes", apart / customers);
  metrics.emplace_back("embedding/samples", static_cast<double>(embedding_->num_samples()));
  const std::array<const char*, kNumTypes> names = {"later", "earlier", "rigid", "both"};
  for (std::size_t type = 0; type < kNumTypes; ++type) {
    metrics.emplace_back(fmt::format("embedding/share_{}", names[type]), share[type] / customers);
  }
  const std::vector<double> losses = embedding_->take_losses();
  for (std::size_t epoch = 0; epoch < losses.size(); ++epoch) {
    metrics.emplace_back(fmt::format("embedding/loss_{:02}", epoch + 1), losses[epoch]);
  }
  if (!losses.empty()) { metrics.emplace_back("embedding/loss", losses.back()); }
  return metrics;
}

void SharedBeliefs::save(std::vector<std::byte>& out) const {
  StateWriter writer(out);
  writer(generation_, epochs_, counts_);
  if (embedding_) { embedding_->save(out); }
}

void SharedBeliefs::load(std::span<const std::byte> bytes) {
  StateReader reader(bytes);
  reader(generation_, epochs_, counts_);
  if (counts_.size() != options_.num_customers) {
    throw DataError("env state: the beliefs are about another number of customers");
  }
  if (embedding_) { embedding_->load(reader); }
  if (!reader.empty()) { throw DataError("env state: more bytes than the beliefs take"); }
  refresh();
}

}  // namespace penstock::booking
