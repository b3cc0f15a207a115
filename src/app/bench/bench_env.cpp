#include <algorithm>

#include "app/bench/rounds.h"
#include "penstock/app/bench/bench.h"
#include "penstock/core/base/random.h"
#include "penstock/core/base/stopwatch.h"
#include "penstock/core/base/thread_pool.h"

namespace penstock {
namespace {

constexpr std::size_t kPrepared = 64;  // steps' worth of random actions, used in turn
constexpr int kBurst = 64;             // steps between looks at the clock

/// One thread's envs and the rows they write.
class Block {
 public:
  Block(VecEnv& envs, EnvRange range)
      : envs_(envs),
        range_(range),
        random_({.seed = 0,
                 .owner = static_cast<std::uint32_t>(range.begin),
                 .stream = Stream::benchmark}) {
    const EnvSpec& spec = envs.spec();
    const std::size_t n = range.size();
    obs_.resize(n * spec.obs.size());
    final_obs_.resize(obs_.size());
    legal_ = std::make_unique<bool[]>(n * spec.action.num_actions());
    flags_ = std::make_unique<bool[]>(2 * n);
    reward_.resize(n);
    episode_.resize(n);
    prepare(spec.action);
    envs_.reset(range_, rows());
  }

  void step() {
    const std::size_t n = range_.size();
    const std::size_t width = n * envs_.spec().action.dims();
    const std::size_t offset = next_++ % kPrepared * width;
    if (envs_.spec().action.masked()) { make_legal(offset); }
    ActionRows actions;
    if (envs_.spec().action.continuous()) {
      actions.points = std::span<const float>(points_).subspan(offset, width);
    } else {
      actions.choices = std::span<const std::int64_t>(choices_).subspan(offset, width);
    }
    envs_.step(range_, actions, rows(),
               {.reward = reward_,
                .terminated = {flags_.get(), n},
                .truncated = {flags_.get() + n, n},
                .final_obs = final_obs_,
                .episode = episode_});
  }

 private:
  ObsRows rows() {
    const std::size_t width = envs_.spec().action.masked() ? envs_.spec().action.num_actions() : 0;
    return {obs_, {legal_.get(), range_.size() * width}};
  }

  void prepare(const ActionSpec& action) {
    for (std::size_t i = 0; i < kPrepared * range_.size(); ++i) {
      for (std::size_t d = 0; d < action.dims(); ++d) {
        if (action.continuous()) {
          points_.push_back(random_.uniform(action.box().low[d], action.box().high[d]));
        } else {
          choices_.push_back(random_.below(action.choices()[d]));
        }
      }
    }
  }

  /// Moves each prepared choice on to the next legal one.
  void make_legal(std::size_t offset) {
    const ActionSpec& action = envs_.spec().action;
    const bool* row = legal_.get();
    for (std::size_t i = 0; i < range_.size(); ++i) {
      for (std::size_t d = 0; d < action.dims(); ++d) {
        std::int64_t& choice = choices_[offset + i * action.dims() + d];
        while (!row[choice]) { choice = (choice + 1) % action.choices()[d]; }
        row += action.choices()[d];
      }
    }
  }

  VecEnv& envs_;
  EnvRange range_;
  Random random_;
  std::vector<std::int64_t> choices_;  // [kPrepared, n, D]
  std::vector<float> points_;          // [kPrepared, n, D]
  std::vector<float> obs_;
  std::vector<float> final_obs_;
  std::vector<float> reward_;
  std::unique_ptr<bool[]> legal_;
  std::unique_ptr<bool[]> flags_;
  std::vector<EpisodeEnd> episode_;
  std::size_t next_ = 0;
};

}  // namespace

Rate rate_of(std::vector<double> rounds) {
  std::sort(rounds.begin(), rounds.end());
  return {rounds[rounds.size() / 2], rounds.front(), rounds.back()};
}

Rate bench_env(const RunPlan& plan, const BenchOptions& options) {
  const std::size_t num_envs = plan.config().env.num_envs;
  const std::size_t wanted = plan.config().threads > 0
                                 ? static_cast<std::size_t>(plan.config().threads)
                                 : available_cores();
  ThreadPool pool({.num_threads = std::min(wanted, num_envs), .pin = plan.config().pin_threads});
  const std::unique_ptr<VecEnv> envs = plan.env().make(num_envs, plan.config().seed);
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < pool.size(); ++i) {
    blocks.emplace_back(*envs,
                        EnvRange{num_envs * i / pool.size(), num_envs * (i + 1) / pool.size()});
  }
  std::vector<double> rates;
  detail::Rounds rounds(options);
  while (rounds.next()) {
    std::vector<double> parts(blocks.size());
    pool.run(blocks.size(), [&](std::size_t i) {
      const std::size_t n = num_envs * (i + 1) / pool.size() - num_envs * i / pool.size();
      std::int64_t steps = 0;
      const Stopwatch watch;
      double spent = 0;
      while (spent < options.round_seconds) {
        for (int k = 0; k < kBurst; ++k) { blocks[i].step(); }
        steps += kBurst;
        spent = watch.seconds();
      }
      parts[i] = static_cast<double>(steps) * n / spent;
    });
    double total = 0;
    for (const double part : parts) { total += part; }
    rates.push_back(total);
  }
  return rate_of(rates);
}

}  // namespace penstock
