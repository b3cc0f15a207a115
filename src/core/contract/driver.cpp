#include "core/contract/driver.h"

#include <algorithm>
#include <limits>

namespace penstock::contract {
namespace {

constexpr std::uint64_t kActionSeed = 77;

std::size_t mask_width(const EnvSpec& spec) {
  return spec.action.masked() ? spec.action.num_actions() : 0;
}

template <class T>
void append(std::vector<std::byte>& out, std::span<T> values) {
  const auto bytes = std::as_bytes(values);
  out.insert(out.end(), bytes.begin(), bytes.end());
}

}  // namespace

Driver::Driver(const EnvFactory& factory, EnvSlice slice, std::uint64_t seed)
    : obs(slice.count * factory.spec().obs.size()),
      legal(slice.count * mask_width(factory.spec())),
      reward(slice.count),
      terminated(slice.count),
      truncated(slice.count),
      final_obs(obs.size()),
      episode(slice.count),
      num_envs_(slice.count),
      seed_(seed),
      env_(factory.make_slice(slice, seed)),
      choices_(slice.count * factory.spec().action.dims()),
      points_(choices_.size()) {
  for (std::size_t i = 0; i < slice.count; ++i) {
    const auto number = static_cast<std::uint32_t>(slice.first + i);
    random_.emplace_back(RandomKey{.seed = kActionSeed, .owner = number, .stream = Stream::action});
  }
}

void Driver::reset() {
  poison();
  env_->reset({0, num_envs_}, {obs, legal.span()});
}

void Driver::step() {
  draw_actions();
  poison();
  step_range({0, num_envs_});
}

void Driver::step(std::span<const EnvRange> ranges) {
  draw_actions();
  poison();
  for (const EnvRange range : ranges) { step_range(range); }
}

void Driver::step(std::span<const EnvRange> ranges, ThreadPool& pool) {
  draw_actions();
  poison();
  pool.run(ranges.size(), [&](std::size_t task) { step_range(ranges[task]); });
}

void Driver::step_range(EnvRange range) {
  const std::size_t features = spec().obs.size();
  const std::size_t width = mask_width(spec());
  const std::size_t dims = spec().action.dims();
  const auto rows = [range](auto&& all, std::size_t size) {
    return std::span(all).subspan(range.begin * size, range.size() * size);
  };
  env_->step(range, {rows(choices_, dims), rows(points_, dims)},
             {rows(obs, features), rows(legal.span(), width)},
             {rows(reward, 1), rows(terminated.span(), 1), rows(truncated.span(), 1),
              rows(final_obs, features), rows(episode, 1)});
}

void Driver::draw_actions() {
  for (std::size_t i = 0; i < num_envs_; ++i) {
    if (spec().action.continuous()) {
      draw_point(i);
    } else {
      draw_choices(i);
    }
  }
}

void Driver::draw_choices(std::size_t i) {
  const auto& sizes = spec().action.choices();
  std::size_t mask = i * mask_width(spec());
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    std::vector<std::int64_t> allowed;
    for (std::int64_t a = 0; a < sizes[d]; ++a) {
      if (!spec().action.masked() || legal.span()[mask++]) { allowed.push_back(a); }
    }
    if (allowed.empty()) { allowed.push_back(0); }  // the row checks report it
    choices_[i * sizes.size() + d] = allowed[random_[i].below(allowed.size())];
  }
}

void Driver::draw_point(std::size_t i) {
  const Box& box = spec().action.box();
  for (std::size_t d = 0; d < box.low.size(); ++d) {
    points_[i * box.low.size() + d] =
        box.low[d] + (box.high[d] - box.low[d]) * random_[i].uniform_float();
  }
}

void Driver::poison() {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  for (auto* rows : {&obs, &reward, &final_obs}) { std::fill(rows->begin(), rows->end(), kNan); }
  for (const Bools* rows : {&legal, &terminated, &truncated}) {
    std::fill(rows->span().begin(), rows->span().end(), false);
  }
  std::fill(episode.begin(), episode.end(), EpisodeEnd{});
}

std::vector<std::byte> Driver::bytes() const {
  std::vector<std::byte> out;
  append_bytes({0, num_envs_}, out);
  return out;
}

std::vector<std::byte> Driver::bytes(std::size_t env) const {
  std::vector<std::byte> out;
  append_bytes({env, env + 1}, out);
  return out;
}

void Driver::append_bytes(EnvRange range, std::vector<std::byte>& out) const {
  const auto rows = [range](const auto& all, std::size_t size) {
    return std::span(all).subspan(range.begin * size, range.size() * size);
  };
  append(out, rows(obs, spec().obs.size()));
  append(out, rows(legal.span(), mask_width(spec())));
  append(out, rows(reward, 1));
  append(out, rows(terminated.span(), 1));
  append(out, rows(truncated.span(), 1));
  append(out, rows(final_obs, spec().obs.size()));
  for (const EpisodeEnd& end : rows(episode, 1)) {  // field by field: padding has no value
    append(out, std::span(&end.total_reward, 1));
    append(out, std::span(&end.length, 1));
    append(out, std::span(&end.success, 1));
    append(out, std::span<const double>(end.stats));
  }
}

void Driver::take_rows(const Driver& other) {
  obs = other.obs;
  std::copy_n(other.legal.span().begin(), legal.span().size(), legal.span().begin());
  random_ = other.random_;
}

}  // namespace penstock::contract
