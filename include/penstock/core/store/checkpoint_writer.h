#pragma once
#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <optional>

#include "penstock/core/store/checkpoint.h"

namespace penstock {

/// Writes checkpoints on a thread of its own, one at a time, so that nobody waits for the disk.
///
///     writer.begin({.step = 8192, .data = [&] { return views_of(snapshot); }});
///     ...                                    // go on; the snapshot stays as it is
///     if (const auto end = writer.poll()) { tell(*end); }
///
/// Not thread-safe: one caller. The thread lives from begin() to the end of the save: there is none
/// between saves.
class CheckpointWriter {
 public:
  struct Job {
    std::int64_t step = 0;
    bool best = false;
    /// Called on the writing thread. What the views point to must stay until the save has ended.
    std::function<CheckpointData()> data = {};
  };
  /// How a save ended.
  struct End {
    std::exception_ptr failure = nullptr;  // what data() or the store threw; null: it is durable
  };

  /// The store must outlive it, and be saved to by nobody else meanwhile.
  explicit CheckpointWriter(CheckpointStore& store) : store_(store) {}
  /// Waits for the save in flight; how it ended is not told.
  ~CheckpointWriter() = default;
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  /// Begins a save; not while busy(). Where the system gives no thread, the save is made by the
  /// next poll() or wait().
  void begin(Job job);
  /// From begin() until poll() or wait() has given the end.
  [[nodiscard]] bool busy() const { return flight_.valid(); }
  /// The end of the save that was begun; none while it is at work, or when there is none.
  [[nodiscard]] std::optional<End> poll();
  /// The same, but waits; none when there is no save.
  std::optional<End> wait();

 private:
  CheckpointStore& store_;
  std::future<void> flight_;
};

}  // namespace penstock
