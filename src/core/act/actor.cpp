#include "penstock/core/act/actor.h"

#include <algorithm>
#include <utility>

#include "penstock/core/base/check.h"
#include "penstock/core/base/errors.h"

namespace penstock {
namespace {

/// A prefix of scratch memory, grown where it is too small.
std::span<float> first_of(std::vector<float>& scratch, std::size_t size) {
  if (scratch.size() < size) { scratch.resize(size); }
  return std::span(scratch).first(size);
}

/// The kernels of `fused`: each row is computed as if it were alone.
class FusedActor final : public Actor {
 public:
  explicit FusedActor(const std::shared_ptr<const PolicyModel>& model)
      : Actor(model), mlp_(*model->shape().mlp, model->weights(), nullptr) {}

  [[nodiscard]] bool rows_are_independent() const override { return true; }

 private:
  void bind(const PolicyModel& model) override { mlp_.use(model.weights()); }
  void infer(const Inference& rows) override {
    mlp_.infer(rows.obs.data(), rows.num_rows, rows.params.empty() ? nullptr : rows.params.data(),
               rows.value.empty() ? nullptr : rows.value.data());
  }

  fused::Mlp mlp_;
};

/// The same layers for each token of a row; absent tokens are left out of the work.
class TokenActor final : public Actor {
 public:
  explicit TokenActor(const std::shared_ptr<const PolicyModel>& model)
      : Actor(model), mlp_(*model->shape().mlp, model->weights(), nullptr) {}

  [[nodiscard]] bool rows_are_independent() const override { return true; }

 private:
  void bind(const PolicyModel& model) override { mlp_.use(model.weights()); }

  void infer(const Inference& rows) override {
    const std::size_t width = mlp_.shape().row_size;
    gather(rows, width);
    const std::size_t outputs = mlp_.num_outputs();
    const std::span<float> params =
        first_of(params_, rows.params.empty() ? 0 : present_.size() * outputs);
    const std::span<float> values = first_of(values_, rows.value.empty() ? 0 : present_.size());
    mlp_.infer(tokens_.data(), present_.size(), params.empty() ? nullptr : params.data(),
               values.empty() ? nullptr : values.data());
    scatter(rows, outputs);
  }

  void gather(const Inference& rows, std::size_t width) {
    const std::size_t count = rows.num_rows * mlp_.shape().tokens;
    present_.clear();
    tokens_.clear();
    for (std::size_t i = 0; i < count; ++i) {
      const std::span<const float> token = rows.obs.subspan(i * width, width);
      if (token[0] == 0) { continue; }
      present_.push_back(i);
      tokens_.insert(tokens_.end(), token.begin(), token.end());
    }
  }

  void scatter(const Inference& rows, std::size_t outputs) {
    std::ranges::fill(rows.params, 0.0F);
    std::ranges::fill(rows.value, 0.0F);
    if (!rows.params.empty()) {
      for (std::size_t k = 0; k < present_.size(); ++k) {
        std::copy_n(params_.data() + k * outputs, outputs,
                    rows.params.data() + present_[k] * outputs);
      }
    }
    if (rows.value.empty()) { return; }
    for (std::size_t k = 0; k < present_.size();) {
      const std::size_t row = present_[k] / mlp_.shape().tokens;
      const std::size_t first = k;
      for (; k < present_.size() && present_[k] / mlp_.shape().tokens == row; ++k) {
        rows.value[row] += values_[k];
      }
      rows.value[row] /= static_cast<float>(k - first);
    }
  }

  fused::Mlp mlp_;
  std::vector<std::size_t> present_;  // tokens, counted over all rows
  std::vector<float> tokens_;         // [present, F]
  std::vector<float> params_;         // [present, P]
  std::vector<float> values_;         // [present]
};

}  // namespace

Actor::Actor(std::shared_ptr<const PolicyModel> model) : model_(std::move(model)) {}

void Actor::adopt(std::shared_ptr<const PolicyModel> model) {
  bind(*model);
  model_ = std::move(model);
}

std::span<const float> Actor::scaled(const ActRows& rows) {
  if (rows.normalised || !model_->shape().normalised()) { return rows.obs; }
  const std::span<float> out = first_of(obs_, rows.obs.size());
  std::ranges::copy(rows.obs, out.begin());
  model_->normaliser().apply(out);
  return out;
}

void Actor::act(const ActRows& rows, const ActResult& into, const ActionNoise* noise) {
  PENSTOCK_CHECK(rows.memory.size(), ==, rows.count * model_->shape().memory_size);
  const bool chooses = !into.choices.empty() || !into.points.empty() || !into.env_points.empty();
  const std::size_t num_params = chooses ? rows.count * model_->shape().head->num_params() : 0;
  infer({.num_rows = rows.count,
         .obs = scaled(rows),
         .legal = rows.legal,
         .params = first_of(params_, num_params),
         .value = into.value});
  if (chooses) { choose(rows, into, noise); }
}

void Actor::choose(const ActRows& rows, const ActResult& into, const ActionNoise* noise) {
  const ActionHead& head = *model_->shape().head;
  const std::span<float> points =
      into.points.empty() ? first_of(points_, into.env_points.size()) : into.points;
  const ActionBlock block{
      .params = std::span<const float>(params_).first(rows.count * head.num_params()),
      .legal = rows.legal,
      .choices = into.choices,
      .points = points,
      .log_prob = into.log_prob.empty() ? first_of(log_prob_, rows.count) : into.log_prob};
  if (noise != nullptr) {
    head.sample(block, *noise);
  } else {
    head.mode(block);
  }
  if (!into.env_points.empty()) { head.to_env(points, into.env_points); }
}

std::unique_ptr<Actor> make_actor(std::shared_ptr<const PolicyModel> model) {
  const PolicyShape& shape = model->shape();
  if (shape.mlp && shape.mlp->tokens > 1) { return std::make_unique<TokenActor>(model); }
  if (shape.mlp) { return std::make_unique<FusedActor>(model); }
  if (shape.make_actor) { return shape.make_actor(std::move(model)); }
  throw DataError(
      "this policy's network is not a stack of linear layers: it needs libtorch; act with it by "
      "`penstock eval RUN`, by penstock.PPO.load(RUN), or by open_run() in C++");
}

}  // namespace penstock
