#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <doctest/doctest.h>

#include <cmath>
#include <stdexcept>

#include "penstock/core/base/errors.h"
#include "penstock/core/env/batched_env.h"
#include "penstock/core/nn/mlp.h"
#include "penstock/core/nn/policy.h"
#include "penstock/core/rollout/sampler.h"

using namespace penstock;

// What a sampler tells of episodes, what it normalises by, and where it stands after a failure.

namespace {

/// An episode of env seed s lasts 2 + s % 4 steps, pays its step's number, and shows (step, seed).
/// Can be told to throw at the total step of some env, once.
struct Lengths {
  struct Config {
    std::int64_t throw_at = -1;
    template <class Visitor>
    void fields(Visitor& visit) {
      visit("throw_at", throw_at, "");
    }
  };
  explicit Lengths(const Config& c) : throw_at(c.throw_at) {}
  [[nodiscard]] EnvSpec spec() const { return {Layout(2), Discrete{2}, 0, {"twice"}}; }
  void reset(std::uint64_t seed, Row row) {
    length = 2 + static_cast<std::int64_t>(seed % 4);
    start = static_cast<double>(seed % 1000) / 10;
    steps = 0;
    write(row);
  }
  Outcome step(std::int64_t /*action*/, Row row) {
    if (++total == throw_at) {
      throw_at = -1;
      throw std::runtime_error("the belt tore");
    }
    ++steps;
    write(row);
    return {.reward = static_cast<float>(steps),
            .terminated = steps == length,
            .success = length % 2 == 0 ? Success::yes : Success::no};
  }
  void episode_stats(std::span<double> stats) const {
    stats[0] = 2.0 * static_cast<double>(length);
  }
  void write(Row row) const {
    row.obs[0] = static_cast<float>(steps);
    row.obs[1] = static_cast<float>(start);
  }
  template <class Archive>
  void state(Archive& archive) {
    archive(length, start, steps, total);
  }
  std::int64_t throw_at;
  std::int64_t length = 2;
  double start = 0;
  std::int64_t steps = 0;
  std::int64_t total = 0;
};

struct Line {
  explicit Line(std::size_t num_envs, std::int64_t num_steps, std::size_t num_shards = 2,
                bool normalise = false, Lengths::Config config = {}, Fusion fusion = Fusion::always)
      : envs(config, num_envs, 1),
        shards(num_envs, num_shards),
        head(make_action_head(envs.spec().action, false)),
        policy([this] { return make_mlp(envs.spec(), {.hidden = {8}}, 1); }, shards.count(),
               at::kCPU, fusion),
        pool({.num_threads = 2, .on_start = [] { at::set_num_threads(1); }}),
        buffer(envs.spec(), num_steps, static_cast<std::int64_t>(num_envs)),
        shape(policy.shape(envs.spec(), head, normalise ? 10 : 0)),
        sampler(envs, actors(), shards, buffer, pool, alone(),
                {.seed = 3, .normalise_obs = normalise}) {}

  std::vector<std::unique_ptr<Actor>> actors() {
    const auto model = policy.publish(shape, {});
    std::vector<std::unique_ptr<Actor>> made;
    for (std::size_t s = 0; s < shards.count(); ++s) { made.push_back(make_actor(model)); }
    return made;
  }

  BatchedEnv<Lengths> envs;
  Shards shards;
  std::shared_ptr<const ActionHead> head;
  Policy policy;
  ThreadPool pool;
  Fragment buffer;
  std::shared_ptr<const PolicyShape> shape;
  Sampler sampler;
};

void fill(Line& line, std::int64_t segment = 1000) {
  while (!line.sampler.full()) { line.sampler.advance(segment); }
  line.sampler.finish();
}

/// Episodes as the buffer's rewards and ends tell them, shard by shard, step by step, env by env.
struct Told {
  double total_reward;
  std::int64_t length;
  std::size_t env;
};
std::vector<Told> episodes_in(const Line& line) {
  std::vector<Told> all;
  const Fragment& x = line.buffer;
  for (std::size_t s = 0; s < line.shards.count(); ++s) {
    const EnvRange range = line.shards.range(s);
    std::vector<Told> running(range.size(), Told{0, 0, 0});
    for (std::int64_t t = 0; t < x.num_steps(); ++t) {
      for (std::size_t n = range.begin; n < range.end; ++n) {
        Told& now = running[n - range.begin];
        now.total_reward += x.reward[t][static_cast<std::int64_t>(n)].item<double>();
        ++now.length;
        now.env = n;
        if (x.terminated[t][static_cast<std::int64_t>(n)].item<bool>()) {
          all.push_back(now);
          now = {0, 0, 0};
        }
      }
    }
  }
  return all;
}

void check_equal(const Fragment& a, const Fragment& b) {
  const auto left = a.tensors();
  const auto right = b.tensors();
  for (std::size_t i = 0; i < left.size(); ++i) {
    INFO(left[i].first);
    CHECK(at::equal(left[i].second, right[i].second));
  }
}

}  // namespace

TEST_CASE("episodes are told once, in the order of shard, step and env, with their sums") {
  for (const std::size_t block : {0U, 1U, 2U}) {
    Line line(7, 20, 3);
    line.sampler.set_block(block);
    fill(line, 6);
    const std::vector<Told> expected = episodes_in(line);
    const std::vector<EpisodeEnd> told = line.sampler.take_episodes();
    REQUIRE(told.size() == expected.size());
    REQUIRE(told.size() > 20);
    for (std::size_t i = 0; i < told.size(); ++i) {
      CHECK(told[i].env == expected[i].env);
      CHECK(told[i].length == expected[i].length);
      CHECK(told[i].total_reward == expected[i].total_reward);
      CHECK(told[i].stats[0] == 2.0 * static_cast<double>(expected[i].length));
      CHECK(told[i].success == (expected[i].length % 2 == 0 ? Success::yes : Success::no));
      CHECK(!told[i].discarded);
    }
    CHECK(line.sampler.take_episodes().empty());
  }
}

TEST_CASE("blocks of any size make the same rollout") {
  Line whole(9, 12);
  whole.sampler.set_block(0);
  fill(whole);
  for (const std::size_t block : {1U, 2U, 4U, 100U}) {
    CAPTURE(block);
    Line split(9, 12);
    REQUIRE(split.sampler.can_split());
    split.sampler.set_block(block);
    fill(split, 5);
    check_equal(whole.buffer, split.buffer);
  }
  CHECK(!Line(4, 4, 2, true).sampler.can_split());
  CHECK(!Line(4, 4, 2, false, {}, Fusion::never).sampler.can_split());
}

TEST_CASE("after a failure the sampler stands where it stood, and goes on as if nothing was") {
  for (const bool normalise : {false, true}) {
    for (const std::int64_t throw_at : {1, 4, 9}) {
      CAPTURE(throw_at);
      Line smooth(5, 12, 2, normalise);
      Line broken(5, 12, 2, normalise, {.throw_at = throw_at});
      fill(smooth, 4);
      int failures = 0;
      while (!broken.sampler.full()) {
        const std::int64_t before = broken.sampler.position();
        const std::int64_t steps = broken.sampler.steps_per_env();
        try {
          broken.sampler.advance(4);
        } catch (const Error& error) {
          CHECK(std::string(error.what()).find("the belt tore") != std::string::npos);
          CHECK(broken.sampler.whole());
          CHECK(broken.sampler.position() == before);
          CHECK(broken.sampler.steps_per_env() == steps);
          REQUIRE(++failures < 20);
        }
      }
      broken.sampler.finish();
      CHECK(failures > 0);
      check_equal(smooth.buffer, broken.buffer);
      const auto expected = smooth.sampler.take_episodes();
      const auto told = broken.sampler.take_episodes();
      REQUIRE(told.size() == expected.size());
      for (std::size_t i = 0; i < told.size(); ++i) {
        CHECK(told[i].env == expected[i].env);
        CHECK(told[i].total_reward == expected[i].total_reward);
      }
      if (normalise) {
        for (std::size_t f = 0; f < 2; ++f) {
          const Moments& a = smooth.sampler.obs_normaliser().moments()[f];
          const Moments& b = broken.sampler.obs_normaliser().moments()[f];
          CHECK(a.count == b.count);
          CHECK(a.mean == b.mean);
          CHECK(a.m2 == b.m2);
        }
      }
    }
  }
}

TEST_CASE("the normaliser has the mean and variance of all rows seen, by numpy's formula") {
  // Beside it the same rollout without normalisation: the policy differs, but rows here do not
  // depend on actions.
  Line raw(6, 10, 3);
  Line scaled(6, 10, 3, true);
  std::vector<std::vector<double>> seen(2);
  for (int round = 0; round < 3; ++round) {
    fill(raw);
    const std::vector<Moments> before = scaled.sampler.obs_normaliser().moments();
    fill(scaled, 3);
    // Row 0 of a later rollout is the last row of the one before, and counts once.
    for (std::int64_t t = round == 0 ? 0 : 1; t <= 10; ++t) {
      for (std::int64_t n = 0; n < 6; ++n) {
        for (std::int64_t f = 0; f < 2; ++f) {
          seen[static_cast<std::size_t>(f)].push_back(raw.buffer.obs[t][n][f].item<double>());
        }
      }
    }
    for (std::size_t f = 0; f < 2; ++f) {
      const double mean_before = before[f].mean;
      const double scale_before = 1 / std::sqrt(before[f].variance() + 1e-8);
      const auto column = static_cast<std::int64_t>(f);
      const at::Tensor expected =
          ((raw.buffer.obs.select(2, column) - mean_before) * scale_before).clamp(-10, 10);
      CHECK(at::allclose(scaled.buffer.obs.select(2, column), expected, 1e-4, 1e-5));
      const auto count = static_cast<double>(seen[f].size());
      double mean = 0;
      for (const double x : seen[f]) { mean += x / count; }
      double variance = 0;
      for (const double x : seen[f]) { variance += (x - mean) * (x - mean) / count; }
      const Moments& now = scaled.sampler.obs_normaliser().moments()[f];
      CHECK(now.count == count);
      CHECK(now.mean == doctest::Approx(mean));
      CHECK(now.variance() == doctest::Approx(variance));
    }
    raw.sampler.restart();
    scaled.sampler.restart();
  }
}

TEST_CASE("rows carry the version that chose their action, also when it changes in mid-rollout") {
  Line line(4, 9);
  line.sampler.advance(4);
  line.policy.set_version(7);
  line.policy.weights().zero_();
  line.policy.weights_changed();
  line.sampler.adopt(line.policy.publish(line.shape, {}));
  fill(line);
  CHECK(line.buffer.version.narrow(0, 0, 4).eq(0).all().item<bool>());
  CHECK(line.buffer.version.narrow(0, 4, 5).eq(7).all().item<bool>());
  // Of weights that are zero: both actions alike, and values of zero from there on.
  const at::Tensor later = line.buffer.log_prob.narrow(0, 4, 5);
  CHECK(at::allclose(later, at::full_like(later, std::log(0.5)), 1e-5, 1e-6));
  CHECK(line.buffer.value.narrow(0, 4, 6).eq(0).all().item<bool>());
  CHECK(!line.buffer.value.narrow(0, 0, 4).eq(0).any().item<bool>());
}

TEST_CASE("a saved state that is not of these envs is refused") {
  Line line(4, 6, 2, true);
  fill(line);
  const Sampler::State good = line.sampler.save();
  const auto refuses = [&](auto change) {
    Sampler::State state = good;
    change(state);
    Line other(4, 6, 2, true);
    CHECK_THROWS_AS(other.sampler.load(state), DataError);
  };
  refuses([](Sampler::State& s) { s.carry_obs = at::zeros({5, 2}); });
  refuses([](Sampler::State& s) { s.position = 7; });
  refuses([](Sampler::State& s) { s.position = -1; });
  refuses([](Sampler::State& s) { s.obs_moments = at::Tensor(); });
  refuses([](Sampler::State& s) { s.obs_tally = at::zeros({3, 2, 3}, at::kDouble); });
  refuses([](Sampler::State& s) { s.episodes = at::zeros({10}, at::kDouble); });
  refuses([](Sampler::State& s) { s.episodes = at::full({1, 9}, 2.0, at::kDouble); });  // shard 2
  Line plain(4, 6);
  CHECK_THROWS_AS(plain.sampler.load(good), DataError);
  Line same(4, 6, 2, true);
  CHECK_NOTHROW(same.sampler.load(good));
  CHECK(same.sampler.take_episodes().size() == line.sampler.take_episodes().size());
}
