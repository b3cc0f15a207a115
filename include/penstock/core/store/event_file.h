#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace penstock {

/// A TensorBoard event file, one per start of a process:
///     events.out.tfevents.<unix time>.<host>.<pid>.penstock
/// TensorBoard reads a run's files in the order of their names, so the time in the name is always
/// later than that of any file already there, whatever the clock does. One thread at a time.
class EventFile {
 public:
  /// Creates the file in `dir` with the version record. Throws IoError.
  explicit EventFile(const std::string& dir);
  ~EventFile();
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  /// One record each, handed to the system before it returns.
  void scalars(std::int64_t step, std::span<const std::pair<std::string, double>> values);
  /// Tells TensorBoard to forget everything at `step` and later in this run.
  void restart_at(std::int64_t step);

 private:
  struct Output;

  std::string path_;
  std::unique_ptr<Output> output_;
};

}  // namespace penstock
