#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "penstock/core/act/policy_model.h"

namespace penstock {

// Shapes: n rows, F floats of a row, A alternatives, D numbers per action, M numbers of memory, P
// numbers that parametrise an action distribution.

/// Rows to act on, lent for one call.
struct ActRows {
  std::size_t count = 0;             // n
  std::span<const float> obs = {};   // [n, F]
  std::span<const bool> legal = {};  // [n, A]; empty: every action is legal
  /// Of a policy with memory: where an episode begins, and what each row remembers, in and out. No
  /// network has any yet (M is 0): both are empty.
  std::span<const bool> starts = {};  // [n]
  std::span<float> memory = {};       // [n, M]
  bool normalised = false;            // obs has been scaled by the model's normaliser already
};

/// Where to put what the policy says of the rows; an empty span is not wanted.
struct ActResult {
  std::span<std::int64_t> choices = {};  // [n, D], discrete kinds
  std::span<float> points = {};          // [n, D], box: as drawn, before squashing or clipping
  std::span<float> env_points = {};      // [n, D], box: as the env wants them, inside the bounds
  std::span<float> log_prob = {};        // [n], of a drawn action
  std::span<float> value = {};           // [n]
};

/// A pass of the network on rows that are as it wants them.
struct Inference {
  std::size_t num_rows = 0;
  std::span<const float> obs;   // [n, F]
  std::span<const bool> legal;  // [n, A]; may be empty
  std::span<float> params;      // [n, P]; empty: not wanted
  std::span<float> value;       // [n]; empty: not wanted
};

/// The one way to act: normalise, pass, choose. An actor is one thread's hands: its scratch and a
/// network bound to a model. Actors of one model run side by side.
class Actor {
 public:
  virtual ~Actor() = default;

  /// Acts with another version from now on. Call it between steps: nothing is locked. The shape is
  /// that of the model it was made with.
  void adopt(std::shared_ptr<const PolicyModel> model);
  [[nodiscard]] const PolicyModel& model() const { return *model_; }

  /// Chooses an action for each row: drawn with `noise`, or the most likely one where it is null.
  /// Without choices and points only what is left is computed. Throws DataError naming the row
  /// (noise->first_env + i) when nothing is legal or the network's output is not finite.
  void act(const ActRows& rows, const ActResult& into, const ActionNoise* noise = nullptr);

  /// Whether a row's result does not depend on the rows beside it, to the last bit.
  [[nodiscard]] virtual bool rows_are_independent() const = 0;

 protected:
  /// `model` may be of any version; bind() is called by whoever derives.
  explicit Actor(std::shared_ptr<const PolicyModel> model);
  virtual void bind(const PolicyModel& model) = 0;
  virtual void infer(const Inference& rows) = 0;

 private:
  void choose(const ActRows& rows, const ActResult& into, const ActionNoise* noise);
  [[nodiscard]] std::span<const float> scaled(const ActRows& rows);

  std::shared_ptr<const PolicyModel> model_;
  std::vector<float> params_;    // [n, P]
  std::vector<float> obs_;       // [n, F], normalised
  std::vector<float> points_;    // [n, D], where the caller wants the env's alone
  std::vector<float> log_prob_;  // [n], where the caller does not want it
};

/// An actor for a model: without libtorch where the network is a stack of linear layers. Throws
/// DataError for a network that needs libtorch when the model came from a file.
std::unique_ptr<Actor> make_actor(std::shared_ptr<const PolicyModel> model);

}  // namespace penstock
