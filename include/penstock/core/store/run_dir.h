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
///     manifest.json  config.toml  metrics.jsonl  events.out.tfevents.*  ckpt/  replay/
/// `fresh` and `resume` hold an exclusive lock until destruction (IoError, exit 73, when another
/// process has it); `read` takes no lock and writes nothing.
class RunDir {
 public:
  enum class Open { fresh, resume, read };

  /// fresh: creates the directory; IoError (exit 73) naming the remedy when it already holds a run.
  /// resume, read: DataError (exit 65) when the directory is not a run.
  RunDir(std::string path, Open mode, std::size_t keep_last = 3);
  ~RunDir();
  RunDir(const RunDir&) = delete;
  RunDir& operator=(const RunDir&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  /// Replaces a file of the directory whole: temporary, fsync, rename, fsync of the directory.
  void write(const std::string& name, const std::string& text);
  [[nodiscard]] std::string read(const std::string& name) const;

  /// One line of metrics.jsonl and one TensorBoard record per metric; x axis `step`. The line holds
  /// "step" (the integer) and every metric by its name; NaN and infinities become null.
  void log(std::int64_t step, std::span<const Metric> metrics);
  /// Forgets what was logged after `step`: a resumed run writes it again. Drops later lines of
  /// metrics.jsonl (and a torn last line) and tells TensorBoard with a session-start event.
  void rewind(std::int64_t step);

  [[nodiscard]] CheckpointStore& checkpoints() { return checkpoints_; }

 private:
  struct Files;  // lock, metrics.jsonl, event file

  std::string path_;
  CheckpointStore checkpoints_;
  std::unique_ptr<Files> files_;
};

}  // namespace penstock
