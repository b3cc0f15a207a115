#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace penstock {

/// A column of a part that holds names (a zone's number, say), not amounts: networks look them up
/// in a table that they learn. Columns of the same table share it. -1 means no name: all zeros.
struct Lookup {
  std::size_t column = 0;      // of the part's last dimension
  std::string table;           // its name; a network learns one table per name
  std::int64_t num_names = 0;  // names are 0 to num_names - 1
};

/// A named piece of an observation row.
struct Part {
  std::string name;
  std::vector<std::int64_t> shape;   // of the numbers that it means
  std::size_t offset = 0;            // in floats, from the row's start
  std::size_t size = 0;              // floats that it takes in a row
  std::size_t first_feature = 0;     // where its numbers stand among those of all parts
  std::size_t num_features = 0;      // product of the shape
  bool counts = false;               // the row lists what is counted, see append_counts()
  std::vector<Lookup> lookups = {};  // columns of names
};

/// One contiguous float row per env, made of named parts: a network asks for a part by name, Python
/// shows a Dict space.
///     Layout({{"clock", {1}}, {"tokens", {31, 8}}})
/// A row is what envs write and buffers keep. Its numbers in full are the features; the two differ
/// by the parts that hold counts.
/// A value: envs, networks and files each hold a copy.
class Layout {
 public:
  Layout() = default;  // no parts, no floats
  Layout(std::initializer_list<std::pair<std::string, std::vector<std::int64_t>>> parts);
  /// One part, "obs".
  explicit Layout(std::int64_t size);

  /// Puts a part behind those there are. Shapes are positive.
  void append(std::string name, std::vector<std::int64_t> shape, std::vector<Lookup> lookups = {});
  /// A part of mostly zeros that holds counts of at most `most` things. The row has `most` floats,
  /// each the place of a thing among the numbers of the part, or -1; in any order.
  void append_counts(std::string name, std::vector<std::int64_t> shape, std::size_t most);
  /// Throws UsageError with the nearest spelling when the part is unknown.
  /// A part by its name. Valid while the layout lives and does not grow.
  [[nodiscard]] const Part& part(std::string_view name) const;
  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }
  [[nodiscard]] std::size_t size() const { return size_; }                  // floats of a row
  [[nodiscard]] std::size_t num_features() const { return num_features_; }  // of a row in full
  [[nodiscard]] bool any_counts() const { return any_counts_; }

  /// A row's features; a span of num_features() each.
  void expand(std::span<const float> row, std::span<float> features) const;
  /// The way back. Throws UsageError when a count is not a whole number or too many are counted.
  void collect(std::span<const float> features, std::span<float> row) const;
  /// Which floats of a row are names or places: nobody may scale them. [size]
  [[nodiscard]] std::vector<bool> names() const;

 private:
  void add(Part part);

  std::vector<Part> parts_;
  std::size_t size_ = 0;
  std::size_t num_features_ = 0;
  bool any_counts_ = false;
};

/// One choice among n. `masked`: the env writes which choices are legal into every row.
struct Discrete {
  std::int64_t n = 0;
  bool masked = false;
};

/// Several choices at once; the masks of all of them stand one after another in the row.
struct MultiDiscrete {
  std::vector<std::int64_t> n;  // alternatives of each choice
  bool masked = false;
};

/// A point in a box. The env receives it inside the bounds.
/// Bounds may be infinite.
struct Box {
  std::vector<float> low;   // [dims], allowed themselves
  std::vector<float> high;  // [dims], allowed themselves
};

/// What an env takes.
/// Made from the kind itself: `EnvSpec{Layout(4), Discrete{2}}`.
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
  Layout obs = {};
  ActionSpec action = {};
  std::int64_t max_episode_steps = 0;  // no episode is longer, BatchedEnv truncates it; 0: no limit
  std::vector<std::string> stats = {};  // names of what EpisodeEnd::stats holds, up to kMaxStats
};

/// What an env's step() takes.
enum class StepKind { choice, choices, point };

/// That a spec can be trained on and fits the type of step(): alternatives above 0, at most
/// kMaxStats statistics, parts with names of their own, boxes whose low is below high. Throws
/// ConfigError that says what is wrong.
void check_spec(const EnvSpec& spec, StepKind step);

}  // namespace penstock
