#include "penstock/domains/booking/neural/train/pointer_network.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <doctest/doctest.h>

#include <cmath>

#include "penstock/domains/booking/neural/planner.h"
#include "penstock/domains/booking/neural/train/demonstrations.h"
#include "unit/domains/booking/neural/support.h"

using namespace penstock;
using namespace penstock::booking;
using namespace penstock::booking::test;

TEST_CASE("the graph of torch and the planner give the same probabilities") {
  Model model = small_model();
  std::vector<float> gradient(model.weights().size(), 0);
  const PointerNetwork network(model, gradient);
  Planner planner(pack(model));
  for (const Mode mode : {Mode::ride, Mode::deliver}) {
    const Demonstration demonstration = make_demonstration({.mode = mode, .requests = 9}, 4);
    REQUIRE_FALSE(demonstration.plan.routes.empty());
    const Instance day = make_case(demonstration.kind, demonstration.seed);
    Task task;
    task.load(day, all_requests(day));
    for (const std::int32_t flip : {-1, 0, 5}) {
      const Sequence sequence = sequence_of(task, demonstration.plan);
      const BatchTask question{&task, {sequence}, flip};
      const c10::NoGradGuard no_grad;
      const at::Tensor graph = network.log_probabilities(make_training_batch({&question, 1}));
      REQUIRE(graph.size(1) == static_cast<std::int64_t>(sequence.tokens.size()));
      const Task* pointer = &task;
      planner.encode({&pointer, 1}, flip);
      Construction plan;
      plan.begin(task);
      for (std::size_t t = 0; t < sequence.tokens.size(); ++t) {
        const auto token = static_cast<std::size_t>(sequence.tokens[t]);
        const float fast = planner.log_probabilities(0, plan)[token];
        const float slow = graph[0][static_cast<std::int64_t>(t)].item<float>();
        CHECK(std::abs(fast - slow) < 1e-4);
        plan.take(sequence.tokens[t]);
      }
      CHECK(plan.done());
    }
  }
}

TEST_CASE("a step along the gradient changes the planner's likelihood as it says") {
  Model model = small_model();
  std::vector<float> gradient(model.weights().size(), 0);
  const Demonstration demonstration = make_demonstration({.mode = Mode::ride, .requests = 5}, 8);
  const Instance day = make_case(demonstration.kind, demonstration.seed);
  Task task;
  task.load(day, all_requests(day));
  const BatchTask question{&task, {sequence_of(task, demonstration.plan)}, 0};
  const TrainingBatch batch = make_training_batch({&question, 1});
  const auto likelihood = [&] {
    Planner planner(pack(model));
    const Task* pointer = &task;
    planner.encode({&pointer, 1});
    Construction plan;
    plan.begin(task);
    double sum = 0;
    for (const std::int32_t token : question.sequences[0].tokens) {
      sum += double{planner.log_probabilities(0, plan)[static_cast<std::size_t>(token)]};
      plan.take(token);
    }
    return sum;
  };
  const double loss = PointerNetwork(model, gradient).add_gradient(batch, 1);
  const double before = likelihood();
  CHECK(loss == doctest::Approx(-before).epsilon(1e-4));
  double squares = 0;
  for (const float g : gradient) { squares += double{g} * double{g}; }
  const double size = 0.02 / std::sqrt(squares);
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    model.weights()[i] -= static_cast<float>(size * gradient[i]);
  }
  // To first order the likelihood grows by size * squares; the step is short.
  CHECK(likelihood() - before == doctest::Approx(size * squares).epsilon(0.1));
}
