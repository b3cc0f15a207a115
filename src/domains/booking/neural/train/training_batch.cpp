#include "penstock/domains/booking/neural/train/training_batch.h"

#include <algorithm>
#include <utility>

#include "penstock/domains/booking/neural/features.h"

namespace penstock::booking {
namespace {

constexpr float kClosed = -1e30F;

std::size_t size(std::int64_t count) { return count; }

/// From [features, stride] to [tokens, features].
void turn(const std::vector<float>& by_feature, std::size_t features, std::size_t tokens,
          float* out) {
  for (std::size_t j = 0; j < tokens; ++j) {
    for (std::size_t f = 0; f < features; ++f) { *out++ = by_feature[f * tokens + j]; }
  }
}

class Writer {
 public:
  explicit Writer(TrainingBatch& batch) : x_(batch), tokens_(size(batch.tokens)) {
    const std::size_t tasks = size(x_.tasks);
    const std::size_t rows = tasks * size(x_.steps);
    x_.nodes.assign(tasks * tokens_ * kNodeFeatures, 0);
    x_.edges.assign(tasks * tokens_ * tokens_ * kEdgeFeatures, 0);
    x_.context.assign(rows * kContextFeatures, 0);
    x_.choices.assign(rows * tokens_ * kChoiceFeatures, 0);
    x_.closed.assign(rows * tokens_, 0);
    x_.forbidden.assign(rows * tokens_, 0);
    x_.here.assign(rows, 0);
    x_.chosen.assign(rows, 0);
    x_.weight.assign(rows, 0);
    room_.resize(std::max(kEdgeFeatures, kChoiceFeatures) * tokens_);
  }

  void write(std::size_t index, const BatchTask& task) {
    write_nodes(*task.task, task.flip, x_.nodes.data() + index * tokens_ * kNodeFeatures);
    for (std::size_t i = 0; i < tokens_; ++i) {
      write_edges(*task.task, i, room_.data(), tokens_);
      turn(room_, kEdgeFeatures, tokens_,
           x_.edges.data() + (index * tokens_ + i) * tokens_ * kEdgeFeatures);
    }
    std::size_t row = index * size(x_.steps);
    for (const Sequence& sequence : task.sequences) {
      plan_.begin(*task.task);
      for (const std::int32_t token : sequence.tokens) {
        if (plan_.done() || plan_.allowed()[token] == 0) { break; }
        write_step(row++, token, sequence.weight);
        plan_.take(token);
      }
    }
  }

 private:
  void write_step(std::size_t row, std::int32_t token, float weight) {
    plan_.describe({x_.context.data() + row * kContextFeatures, kContextFeatures}, room_.data(),
                   tokens_);
    turn(room_, kChoiceFeatures, tokens_, x_.choices.data() + row * tokens_ * kChoiceFeatures);
    for (std::size_t j = 0; j < tokens_; ++j) {
      x_.closed[row * tokens_ + j] = plan_.open()[j] != 0 ? 0 : kClosed;
      x_.forbidden[row * tokens_ + j] = plan_.allowed()[j] != 0 ? 0 : kClosed;
    }
    x_.here[row] = plan_.here();
    x_.chosen[row] = token;
    x_.weight[row] = weight;
  }

  TrainingBatch& x_;
  std::size_t tokens_;
  std::vector<float> room_;
  Construction plan_;
};

}  // namespace

TrainingBatch make_training_batch(std::span<const BatchTask> tasks) {
  TrainingBatch batch;
  batch.tasks = static_cast<std::int64_t>(tasks.size());
  for (const BatchTask& task : tasks) {
    batch.tokens = task.task->num_tokens();
    std::int64_t steps = 0;
    for (const Sequence& sequence : task.sequences) {
      steps += static_cast<std::int64_t>(sequence.tokens.size());
    }
    batch.steps = std::max(batch.steps, steps);
  }
  Writer writer(batch);
  for (std::size_t i = 0; i < tasks.size(); ++i) { writer.write(i, tasks[i]); }
  return batch;
}

Sequence sequence_of(const Task& task, const Plan& plan) {
  std::vector<std::int32_t> token_of(task.instance().num_nodes(), 0);
  for (std::int32_t token = 0; token < task.num_tokens(); ++token) {
    token_of[task.node_of(token)] = token;
  }
  std::vector<std::pair<Seconds, std::size_t>> order;
  for (std::size_t v = 0; v < plan.routes.size(); ++v) {
    if (plan.routes[v].empty()) { continue; }
    const std::int32_t first = token_of[plan.routes[v].front()];
    const Seconds reached = task.stop(0).window.earliest + task.duration(0, first);
    order.emplace_back(std::max(reached, task.stop(first).window.earliest), v);
  }
  std::ranges::sort(order);
  Sequence sequence;
  for (const auto& [start, vehicle] : order) {
    if (!sequence.tokens.empty()) { sequence.tokens.push_back(0); }
    for (const std::int32_t node : plan.routes[vehicle]) {
      sequence.tokens.push_back(token_of[node]);
    }
  }
  return sequence;
}

}  // namespace penstock::booking
