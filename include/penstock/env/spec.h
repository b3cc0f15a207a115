#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace penstock {

/// A named piece of an observation row.
struct Part {
  std::string name;
  std::vector<std::int64_t> shape;
  std::size_t offset = 0;  // in floats, from the row's start
  std::size_t size = 0;    // product of the shape
};

/// One contiguous float row per env, made of named parts: a network asks for a part by name, Python
/// shows a Dict space without copying.
///     Layout({{"clock", {1}}, {"tokens", {31, 8}}})
class Layout {
 public:
  Layout() = default;
  Layout(std::initializer_list<std::pair<std::string, std::vector<std::int64_t>>> parts);
  explicit Layout(std::int64_t size) : Layout({{"obs", {size}}}) {}

  void append(std::string name, std::vector<std::int64_t> shape);
  /// Throws UsageError with the nearest spelling when there is no such part.
  [[nodiscard]] const Part& part(std::string_view name) const;
  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  std::vector<Part> parts_;
  std::size_t size_ = 0;
};

/// One choice among n. `masked`: the env writes which choices are legal into every row.
struct Discrete {
  std::int64_t n = 0;
  bool masked = false;
};

/// Several choices at once; the masks of all of them stand one after another in the row.
struct MultiDiscrete {
  std::vector<std::int64_t> n;
  bool masked = false;
};

/// A point in a box. The env receives it inside the bounds.
struct Box {
  std::vector<float> low;
  std::vector<float> high;
};

/// What an env takes.
class ActionSpec {
 public:
  ActionSpec() = default;
  ActionSpec(Discrete discrete);  // NOLINT(google-explicit-constructor): reads as the kind it holds
  ActionSpec(MultiDiscrete multi);  // NOLINT(google-explicit-constructor)
  ActionSpec(Box box);              // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool continuous() const { return std::holds_alternative<Box>(kind_); }
  [[nodiscard]] bool masked() const { return masked_; }
  /// Numbers per action: 1 for discrete, the number of choices or of box dimensions otherwise.
  [[nodiscard]] std::size_t dims() const { return dims_; }
  /// Number of alternatives of each choice; empty for a box.
  [[nodiscard]] const std::vector<std::int64_t>& choices() const { return choices_; }
  /// Sum of the choices: the width of a mask row; 0 for a box.
  [[nodiscard]] std::size_t num_actions() const { return num_actions_; }
  /// Only for a box.
  [[nodiscard]] const Box& box() const { return std::get<Box>(kind_); }
  [[nodiscard]] bool multi() const { return std::holds_alternative<MultiDiscrete>(kind_); }

 private:
  std::variant<Discrete, MultiDiscrete, Box> kind_;
  std::vector<std::int64_t> choices_;
  std::size_t dims_ = 0;
  std::size_t num_actions_ = 0;
  bool masked_ = false;
};

/// How many statistics of its own an env may tell of an episode.
constexpr std::size_t kMaxStats = 4;

/// Everything a trainer must know about an env before stepping it.
struct EnvSpec {
  Layout obs;
  ActionSpec action;
  std::int64_t max_episode_steps = 0;  // no episode is longer, BatchedEnv truncates it; 0: no limit
  std::vector<std::string> stats;      // names of what EpisodeEnd::stats holds, up to kMaxStats
};

}  // namespace penstock
