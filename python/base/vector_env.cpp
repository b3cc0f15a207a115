#include "vector_env.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <string>

#include "penstock/core/base/errors.h"

namespace penstock::python {
namespace {

double seconds_now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

/// Row i of rows of that width.
template <class T>
std::span<T> row(const std::unique_ptr<T[]>& rows, std::size_t i, std::size_t width) {
  return {rows.get() + i * width, width};
}

[[noreturn]] void refuse(std::size_t env, const std::string& what) {
  throw UsageError("env " + std::to_string(env) + ": " + what);
}

/// Whether 0 <= x < n for all, without a branch per number: x and n - 1 - x have no sign bit then.
bool all_below(std::span<const std::int64_t> values, std::span<const std::int64_t> n) {
  std::uint64_t bits = 0;
  const auto look = [&bits](std::int64_t x, std::int64_t count) {
    bits |= static_cast<std::uint64_t>(x);
    bits |= static_cast<std::uint64_t>(count) - 1 - static_cast<std::uint64_t>(x);
  };
  if (n.size() == 1) {
    for (const std::int64_t x : values) { look(x, n[0]); }
  } else {
    for (std::size_t k = 0; k < values.size(); ++k) { look(values[k], n[k % n.size()]); }
  }
  return bits >> 63U == 0;
}

void check_choices(const ActionSpec& spec, std::span<const std::int64_t> choices) {
  const std::vector<std::int64_t>& n = spec.choices();
  if (all_below(choices, n)) { return; }
  for (std::size_t k = 0; k < choices.size(); ++k) {
    const std::int64_t last = n[k % n.size()] - 1;
    if (choices[k] < 0 || choices[k] > last) {
      refuse(k / n.size(), "action " + std::to_string(choices[k]) + " is not one of 0 to " +
                               std::to_string(last));
    }
  }
}

void clip(const Box& box, std::span<const float> points, std::span<float> out) {
  const std::size_t dims = box.low.size();
  for (std::size_t k = 0; k < points.size(); ++k) {
    if (std::isnan(points[k])) { refuse(k / dims, "the action is not a number"); }
    out[k] = std::clamp(points[k], box.low[k % dims], box.high[k % dims]);
  }
}

}  // namespace

VectorEnv::VectorEnv(const EnvFactory& factory, const Options& options)
    : envs_(factory.make(options.num_envs, 0)),
      spec_(envs_->spec()),
      options_(options),
      num_envs_(options.num_envs),
      row_size_(spec().obs.size()),
      mask_width_(spec().action.masked() ? spec().action.num_actions() : 0),
      pool_({.num_threads = std::min(options.num_threads, options.num_envs)}),
      waiting_(std::make_unique<bool[]>(num_envs_)),
      first_obs_(std::make_unique<float[]>(num_envs_ * row_size_)),
      first_legal_(std::make_unique<bool[]>(num_envs_ * mask_width_)),
      reward_(std::make_unique<float[]>(num_envs_)),
      episode_(num_envs_),
      started_(num_envs_),
      points_(spec().action.continuous() ? num_envs_ * spec().action.dims() : 0) {
  const std::size_t features = num_envs_ * spec().obs.num_features();
  rows_.obs = std::make_unique<float[]>(features);
  rows_.legal = std::make_unique<bool[]>(num_envs_ * mask_width_);
  rows_.final_obs = std::make_unique<float[]>(features);
  if (spec().obs.any_counts()) {
    own_obs_ = std::make_unique<float[]>(num_envs_ * row_size_);
    own_final_obs_ = std::make_unique<float[]>(num_envs_ * row_size_);
  }
  obs_ = own_obs_ ? own_obs_.get() : rows_.obs.get();
  final_obs_ = own_final_obs_ ? own_final_obs_.get() : rows_.final_obs.get();
  rows_.reward = std::make_unique<double[]>(num_envs_);
  rows_.terminated = std::make_unique<bool[]>(num_envs_);
  rows_.truncated = std::make_unique<bool[]>(num_envs_);
  rows_.ended = std::make_unique<bool[]>(num_envs_);
  rows_.total_reward = std::make_unique<double[]>(num_envs_);
  rows_.length = std::make_unique<std::int64_t[]>(num_envs_);
  rows_.seconds = std::make_unique<double[]>(num_envs_);
  rows_.success = std::make_unique<std::int8_t[]>(num_envs_);
  rows_.discarded = std::make_unique<bool[]>(num_envs_);
  rows_.which = std::make_unique<std::int64_t[]>(num_envs_);
}

void VectorEnv::reset(std::span<const bool> mask,
                      std::span<const std::optional<std::uint64_t>> seeds) {
  const std::scoped_lock lock(mutex_);
  require_open();
  const double now = seconds_now();
  // Envs that begin anew do so together, stretch by stretch: those in processes side by side.
  std::size_t first = 0;
  for (std::size_t i = 0; i < num_envs_; ++i) {
    const bool picked = mask.empty() || mask[i];
    if (picked && !seeds.empty() && seeds[i]) {
      envs_->seed(i, *seeds[i]);
      waiting_[i] = false;
    }
    if (picked && !waiting_[i]) { continue; }
    begin({first, i}, now);
    first = i + 1;
    if (picked) { hand_out_first(i, now); }
  }
  begin({first, num_envs_}, now);
  expand();
}

void VectorEnv::begin(EnvRange range, double now) {
  if (range.size() == 0) { return; }
  for (std::size_t i = range.begin; i < range.end; ++i) {
    rows_.terminated[i] = rows_.truncated[i] = rows_.ended[i] = false;
    started_[i] = now;
  }
  envs_->reset(range, obs_rows(range));
}

std::vector<Incident> VectorEnv::take_incidents() {
  const std::scoped_lock lock(mutex_);
  return envs_ ? envs_->take_incidents() : std::vector<Incident>();
}

void VectorEnv::close() {
  const std::scoped_lock lock(mutex_);
  envs_.reset();
}

void VectorEnv::require_open() const {
  if (!envs_) { throw UsageError("the envs are closed"); }
}

std::size_t VectorEnv::step(std::span<const std::int64_t> choices) {
  const std::scoped_lock lock(mutex_);
  require_open();
  check_choices(spec().action, choices);
  return step_all({.choices = choices, .points = {}});
}

std::size_t VectorEnv::step(std::span<const float> points) {
  const std::scoped_lock lock(mutex_);
  require_open();
  clip(spec().action.box(), points, points_);
  return step_all({.choices = {}, .points = points_});
}

std::size_t VectorEnv::step_all(ActionRows actions) {
  if (options_.autoreset == Autoreset::disabled) { require_running(); }
  const double now = seconds_now();
  forget_ended();
  if (pool_.size() == 1) {
    step_range({0, num_envs_}, actions, now);
  } else {
    pool_.run(pool_.size(), [&](std::size_t part) { step_range(range_of(part), actions, now); });
  }
  num_ended_ = find_ended();
  for (std::size_t k = 0; k < num_ended_; ++k) {
    const auto i = static_cast<std::size_t>(rows_.which[k]);
    record(i, now);
    if (options_.autoreset != Autoreset::same_step) { hold_back_first(i); }
  }
  expand();
  return num_ended_;
}

/// Shows what the envs wrote, where that is not yet what there is to see.
void VectorEnv::expand() {
  if (!own_obs_) { return; }
  const Layout& layout = spec().obs;
  const auto show = [&](const float* from, const std::unique_ptr<float[]>& to, std::size_t i) {
    layout.expand({from + i * row_size_, row_size_}, row(to, i, layout.num_features()));
  };
  for (std::size_t i = 0; i < num_envs_; ++i) {
    show(obs_, rows_.obs, i);
    if (rows_.ended[i]) { show(final_obs_, rows_.final_obs, i); }
  }
}

void VectorEnv::step_range(EnvRange range, ActionRows actions, double now) {
  // Envs that wait are left out: the stretches between them are stepped.
  std::size_t first = range.begin;
  if (options_.autoreset != Autoreset::same_step) {
    for (std::size_t i = range.begin; i < range.end; ++i) {
      if (!waiting_[i]) { continue; }
      step_envs({first, i}, actions);
      hand_out_first(i, now);
      first = i + 1;
    }
  }
  step_envs({first, range.end}, actions);
  for (std::size_t i = range.begin; i < range.end; ++i) { rows_.reward[i] = reward_[i]; }
  for (std::size_t i = range.begin; i < range.end; ++i) {
    rows_.ended[i] =
        static_cast<unsigned>(rows_.terminated[i]) | static_cast<unsigned>(rows_.truncated[i]);
  }
}

/// Lists the envs whose episode ended. Most did not: eight flags are looked at together.
std::size_t VectorEnv::find_ended() {
  constexpr std::size_t kFlags = sizeof(std::uint64_t);
  std::size_t count = 0;
  for (std::size_t i = 0; i < num_envs_; i += kFlags) {
    const std::size_t size = std::min(kFlags, num_envs_ - i);
    std::uint64_t flags = 0;
    std::memcpy(&flags, rows_.ended.get() + i, size);
    for (std::size_t k = 0; flags != 0 && k < size; ++k) {
      if (rows_.ended[i + k]) { rows_.which[count++] = static_cast<std::int64_t>(i + k); }
    }
  }
  return count;
}

void VectorEnv::forget_ended() {
  for (std::size_t k = 0; k < num_ended_; ++k) {
    const auto i = static_cast<std::size_t>(rows_.which[k]);
    rows_.total_reward[i] = rows_.seconds[i] = 0;
    rows_.length[i] = rows_.success[i] = 0;
    rows_.discarded[i] = false;
  }
  num_ended_ = 0;
}

void VectorEnv::step_envs(EnvRange range, ActionRows actions) {
  if (range.size() == 0) { return; }
  const std::size_t dims = spec().action.dims();
  const auto part = [&](auto rows) {
    return rows.empty() ? rows : rows.subspan(range.begin * dims, range.size() * dims);
  };
  envs_->step(range, {.choices = part(actions.choices), .points = part(actions.points)},
              obs_rows(range),
              {.reward = {reward_.get() + range.begin, range.size()},
               .terminated = {rows_.terminated.get() + range.begin, range.size()},
               .truncated = {rows_.truncated.get() + range.begin, range.size()},
               .final_obs = {final_obs_ + range.begin * row_size_, range.size() * row_size_},
               .episode = std::span(episode_).subspan(range.begin, range.size())});
}

void VectorEnv::record(std::size_t i, double now) {
  rows_.total_reward[i] = episode_[i].total_reward;
  rows_.length[i] = episode_[i].length;
  rows_.success[i] = static_cast<std::int8_t>(episode_[i].success);
  rows_.discarded[i] = episode_[i].discarded;
  rows_.seconds[i] = now - started_[i];
  started_[i] = now;
}

/// The env already shows its next episode: keep that row, show the last one's end instead.
void VectorEnv::hold_back_first(std::size_t i) {
  waiting_[i] = true;
  std::copy_n(obs_ + i * row_size_, row_size_, first_obs_.get() + i * row_size_);
  std::copy_n(final_obs_ + i * row_size_, row_size_, obs_ + i * row_size_);
  std::ranges::copy(row(rows_.legal, i, mask_width_), row(first_legal_, i, mask_width_).begin());
  std::ranges::fill(row(rows_.legal, i, mask_width_), true);
}

void VectorEnv::hand_out_first(std::size_t i, double now) {
  waiting_[i] = false;
  started_[i] = now;
  reward_[i] = 0;
  rows_.terminated[i] = rows_.truncated[i] = rows_.ended[i] = false;
  std::copy_n(first_obs_.get() + i * row_size_, row_size_, obs_ + i * row_size_);
  std::ranges::copy(row(first_legal_, i, mask_width_), row(rows_.legal, i, mask_width_).begin());
}

void VectorEnv::require_running() const {
  for (std::size_t i = 0; i < num_envs_; ++i) {
    if (waiting_[i]) {
      refuse(i, "its episode has ended; reset it first, with options={\"reset_mask\": ...}");
    }
  }
}

EnvRange VectorEnv::range_of(std::size_t part) const {
  return {num_envs_ * part / pool_.size(), num_envs_ * (part + 1) / pool_.size()};
}

ObsRows VectorEnv::obs_rows(EnvRange range) const {
  return {{obs_ + range.begin * row_size_, range.size() * row_size_},
          {rows_.legal.get() + range.begin * mask_width_, range.size() * mask_width_}};
}

}  // namespace penstock::python
