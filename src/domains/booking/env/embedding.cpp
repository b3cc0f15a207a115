#include "penstock/domains/booking/env/embedding.h"

#include <algorithm>
#include <utility>

namespace penstock::booking {

Embedding::Embedding(const Options& options, const AnswerModel& answers)
    : options_(options), answers_(answers), model_(options.num_customers, answers, options.seed) {}

Embedding::Trained Embedding::train(FlexibilityModel model,
                                    const std::vector<AnswerSample>& samples, std::int64_t epochs) {
  std::vector<double> losses = model.train(samples, epochs);
  return {std::move(model), std::move(losses)};
}

void Embedding::update(std::span<const AnswerSample> samples, std::int64_t num_steps) {
  take_result();
  for (const AnswerSample& sample : samples) {
    if (buffer_.size() < options_.capacity) {
      buffer_.push_back(sample);
    } else {
      buffer_[next_] = sample;
    }
    next_ = (next_ + 1) % options_.capacity;
  }
  steps_ += num_steps;
  if (steps_ < options_.interval) { return; }
  steps_ = 0;
  if (options_.background) {
    running_ = std::async(std::launch::async,
                          [this_model = model_, taken = buffer_, epochs = options_.epochs] {
                            return train(this_model, taken, epochs);
                          });
    return;
  }
  result_ = train(model_, buffer_, options_.epochs);
  take_result();
}

void Embedding::forget() {
  wait();
  result_.reset();
  buffer_.clear();
  next_ = 0;
  steps_ = 0;
  ++people_;
  model_ = FlexibilityModel(options_.num_customers, answers_, options_.seed + people_);
}

void Embedding::wait() const {
  if (running_.valid()) { result_ = running_.get(); }
}

void Embedding::take_result() {
  wait();
  if (!result_) { return; }
  model_ = std::move(result_->model);
  losses_ = std::move(result_->losses);
  result_.reset();
}

void Embedding::save(std::vector<std::byte>& out) const {
  wait();
  StateWriter writer(out);
  const bool pending = result_.has_value();
  writer(people_, model_, buffer_, next_, steps_, pending);
  if (pending) { writer(result_->model, result_->losses); }
}

void Embedding::load(StateReader& reader) {
  wait();
  result_.reset();
  reader(people_);
  model_ = FlexibilityModel(options_.num_customers, answers_, options_.seed + people_);
  bool pending = false;
  reader(model_, buffer_, next_, steps_, pending);
  const auto valid = [&](const AnswerSample& sample) {
    return sample.customer < options_.num_customers && sample.offer < kNumOffers;
  };
  if (buffer_.size() > options_.capacity || next_ >= options_.capacity ||
      !std::ranges::all_of(buffer_, valid)) {
    throw DataError("env state: the embedding's samples do not fit this config");
  }
  if (pending) {
    result_ = Trained{model_, {}};
    reader(result_->model, result_->losses);
  }
}

}  // namespace penstock::booking
