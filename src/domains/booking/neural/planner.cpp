#include "penstock/domains/booking/neural/planner.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "domains/booking/neural/units.h"
#include "domains/booking/neural/workspace.h"

namespace penstock::booking {
namespace {

// Rows of a block: large enough that weights are read from cache for many, small enough that the
// rows stay there too.
constexpr std::size_t kBlockRows = 256;

std::int32_t likeliest(std::span<const float> logits, std::span<const std::uint8_t> allowed) {
  std::int32_t best = -1;
  for (std::size_t j = 0; j < logits.size(); ++j) {
    if (allowed[j] == 0) { continue; }
    if (best < 0 || logits[j] > logits[best]) { best = j; }
  }
  return best;
}

/// By likelihood.
std::int32_t draw(std::span<const float> logits, std::span<const std::uint8_t> allowed,
                  Random& random) {
  const std::int32_t best = likeliest(logits, allowed);
  const float most = logits[best];
  double total = 0;
  for (std::size_t j = 0; j < logits.size(); ++j) {
    if (allowed[j] != 0) { total += std::exp(static_cast<double>(logits[j] - most)); }
  }
  double place = random.uniform() * total;
  for (std::size_t j = 0; j < logits.size(); ++j) {
    if (allowed[j] == 0) { continue; }
    place -= std::exp(static_cast<double>(logits[j] - most));
    if (place < 0) { return j; }
  }
  return best;
}

}  // namespace

Planner::Planner(std::shared_ptr<const PackedModel> model)
    : model_(std::move(model)), work_(std::make_unique<Workspace>(*model_)) {}
Planner::~Planner() = default;
Planner::Planner(Planner&&) noexcept = default;
Planner& Planner::operator=(Planner&&) noexcept = default;

std::size_t Planner::block_of(std::span<const Task* const> tasks) {
  std::size_t rows = 0;
  std::size_t count = 0;
  while (count < tasks.size()) {
    rows += tasks[count]->num_tokens();
    if (count > 0 && rows > kBlockRows) { break; }
    ++count;
  }
  return std::max<std::size_t>(1, count);
}

void Planner::encode(std::span<const Task* const> tasks, std::int32_t flip) {
  work_->encode(tasks, flip);
}

void Planner::construct(std::size_t i, Construction& plan, Random* random) {
  plan.begin(work_->task(i));
  while (!plan.done() && !plan.stuck()) {
    const std::span<const float> logits = work_->logits(i, plan);
    plan.take(random == nullptr ? likeliest(logits, plan.allowed())
                                : draw(logits, plan.allowed(), *random));
  }
}

std::span<const float> Planner::log_probabilities(std::size_t i, const Construction& plan) {
  const std::span<float> logits = work_->logits(i, plan);
  const std::span<const std::uint8_t> allowed = plan.allowed();
  double total = 0;
  for (std::size_t j = 0; j < logits.size(); ++j) {
    if (allowed[j] != 0) { total += std::exp(static_cast<double>(logits[j])); }
  }
  for (std::size_t j = 0; j < logits.size(); ++j) {
    logits[j] = allowed[j] != 0 ? logits[j] - static_cast<float>(std::log(total)) : kClosed;
  }
  return logits;
}

}  // namespace penstock::booking
