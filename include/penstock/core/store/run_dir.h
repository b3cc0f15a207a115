#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "penstock/core/base/metrics.h"
#include "penstock/core/store/checkpoint.h"

namespace penstock {

/// A run's directory, the only writer of files:
///     manifest.json  config.toml  metrics.jsonl  events.out.tfevents.*  ckpt/  replay/  dump/
/// `fresh` and `resume` hold an exclusive lock until destruction (IoError, exit 73, when another
/// process has it); `read` takes no lock and writes nothing. One thread at a time, but for
/// checkpoints(), which another may save to.
class RunDir {
 public:
  enum class Open { fresh, resume, read };

  /// fresh: creates the directory; IoError (exit 73) naming the remedy when it already holds a run.
  /// One that ended before its first checkpoint does not count: see begun_before().
  /// resume, read: DataError (exit 65) when the directory is not a run.
  RunDir(std::string path, Open mode, std::size_t keep_last = 3);
  ~RunDir();
  RunDir(const RunDir&) = delete;
  RunDir& operator=(const RunDir&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  /// Of a fresh one: it holds the beginning of a run that never saved anything, whose files will be
  /// replaced.
  [[nodiscard]] bool begun_before() const { return begun_before_; }
  /// Replaces a file of the directory whole: temporary, fsync, rename, fsync of the directory.
  void write(const std::string& name, const std::string& text);
  /// The same with a safetensors file. Both throw IoError.
  void write_tensors(const std::string& name, std::span<const TensorView> tensors);
  [[nodiscard]] std::string read(const std::string& name) const;

  /// One line of metrics.jsonl and one TensorBoard record per metric; x axis `step`. The line holds
  /// "step" (the integer) and every metric by its name; NaN and infinities become null.
  /// What the disk refuses is kept in memory and tried again with the next line: see log_state().
  void log(std::int64_t step, std::span<const Metric> metrics);
  /// How the logs are doing.
  struct LogState {
    std::string error;        // why the last try failed; empty: all is written
    std::size_t waiting = 0;  // lines that are tried again
    std::size_t lost = 0;     // lines dropped because too many waited, since the start
  };
  [[nodiscard]] LogState log_state() const;
  /// Tries again what waits.
  void flush_log();
  /// Forgets what was logged after `step`: a resumed run writes it again. Drops later lines of
  /// metrics.jsonl (and a torn last line) and tells TensorBoard with a session-start event.
  /// Of `step` itself it drops lines that have the metric `but`.
  void rewind(std::int64_t step, const std::string& but = "");

  [[nodiscard]] CheckpointStore& checkpoints() { return checkpoints_; }

 private:
  struct Files;  // lock, metrics.jsonl, event file

  std::string path_;
  CheckpointStore checkpoints_;
  std::unique_ptr<Files> files_;
  bool begun_before_ = false;
};

}  // namespace penstock
