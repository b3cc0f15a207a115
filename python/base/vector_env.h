#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "penstock/core/base/thread_pool.h"
#include "penstock/core/env/vec_env.h"

namespace penstock::python {

// Shapes: N envs, F features, R floats of a row, A alternatives, D numbers per action.

/// What becomes of an env whose episode ended, by Gymnasium's names.
enum class Autoreset {
  same_step,  // the row is the next episode's first; the last one is in final_obs
  next_step,  // the row is the episode's last; the next step ignores its action and starts anew
  disabled,   // the row is the episode's last; reset() starts anew, stepping is an error
};

/// Gymnasium's view of a VecEnv: one row of memory per env that every call overwrites, the three
/// autoreset modes, and seeds env by env. An env goes through the same episodes in every mode. One
/// call at a time; a second one waits.
class VectorEnv {
 public:
  struct Options {
    std::size_t num_envs = 1;
    std::size_t num_threads = 1;
    Autoreset autoreset = Autoreset::same_step;
  };
  VectorEnv(const EnvFactory& factory, const Options& options);

  /// Starts the next episode of the envs in `mask` (empty: all), those with a seed from it.
  void reset(std::span<const bool> mask, std::span<const std::optional<std::uint64_t>> seeds);

  /// One step of every env; how many episodes ended. Throws UsageError naming the env when a choice
  /// is not one of its alternatives, a point is not a number, or a finished env was not reset;
  /// nothing has moved then. Points are brought inside the box.
  std::size_t step(std::span<const std::int64_t> choices);
  std::size_t step(std::span<const float> points);

  /// Failures that were survived since the last call.
  std::vector<Incident> take_incidents();
  /// Lets the envs go; the memory stays.
  void close();

  [[nodiscard]] const EnvSpec& spec() const { return spec_; }
  [[nodiscard]] std::size_t num_envs() const { return num_envs_; }

  /// The memory that calls write to. What is of an ended episode is 0 where none ended.
  struct Rows {
    std::unique_ptr<float[]> obs;            // [N, F]
    std::unique_ptr<bool[]> legal;           // [N, A]; all true where no action matters
    std::unique_ptr<float[]> final_obs;      // [N, F]; valid where ended
    std::unique_ptr<double[]> reward;        // [N]
    std::unique_ptr<bool[]> terminated;      // [N]
    std::unique_ptr<bool[]> truncated;       // [N]
    std::unique_ptr<bool[]> ended;           // [N] either of the two
    std::unique_ptr<double[]> total_reward;  // [N]
    std::unique_ptr<std::int64_t[]> length;  // [N]
    std::unique_ptr<double[]> seconds;       // [N] since the episode began
    std::unique_ptr<std::int8_t[]> success;  // [N] -1 unknown, 0, 1
    std::unique_ptr<bool[]> discarded;       // [N] ended by a failure
    std::unique_ptr<std::int64_t[]> which;   // the first so many: the envs that ended
  };
  [[nodiscard]] const Rows& rows() const { return rows_; }

 private:
  void begin(EnvRange range, double now);
  void require_open() const;
  std::size_t step_all(ActionRows actions);
  void step_range(EnvRange range, ActionRows actions, double now);
  void step_envs(EnvRange range, ActionRows actions);
  std::size_t find_ended();
  void forget_ended();
  void record(std::size_t i, double now);
  void hand_out_first(std::size_t i, double now);
  void hold_back_first(std::size_t i);
  void require_running() const;
  [[nodiscard]] EnvRange range_of(std::size_t part) const;
  [[nodiscard]] ObsRows obs_rows(EnvRange range) const;
  void expand();

  std::unique_ptr<VecEnv> envs_;  // null once closed
  EnvSpec spec_;
  Options options_;
  std::size_t num_envs_;
  std::size_t row_size_;
  std::size_t mask_width_;  // 0 when not masked
  ThreadPool pool_;
  std::mutex mutex_;
  Rows rows_;
  // Where envs write: the memory of rows_, or, where a row is not its features, memory of its own.
  std::unique_ptr<float[]> own_obs_;        // [N, R]
  std::unique_ptr<float[]> own_final_obs_;  // [N, R]
  float* obs_;
  float* final_obs_;
  // Envs whose next episode has begun but was not handed out, and its first row.
  std::unique_ptr<bool[]> waiting_;      // [N]
  std::unique_ptr<float[]> first_obs_;   // [N, R]
  std::unique_ptr<bool[]> first_legal_;  // [N, A]
  std::unique_ptr<float[]> reward_;      // [N] as the envs write it
  std::vector<EpisodeEnd> episode_;      // [N]
  std::vector<double> started_;          // [N] when the episode began
  std::vector<float> points_;            // [N, D] inside the box
  std::size_t num_ended_ = 0;            // in the last step
};

}  // namespace penstock::python
