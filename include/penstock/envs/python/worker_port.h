#pragma once
#include <cstddef>
#include <functional>

#include "penstock/envs/python/shared_rows.h"

namespace penstock {

/// The worker's end of shared rows.
///
///     WorkerPort port(rows, worker);
///     while (port.wait()) { port.serve(work); }
///
/// One thread at a time. The rows must outlive it.
class WorkerPort {
 public:
  WorkerPort(SharedRows& rows, std::size_t worker);

  /// The envs that this worker serves.
  [[nodiscard]] EnvRange range() const { return range_; }
  /// Sleeps until there are orders; false when the parent wants the worker to end.
  /// Polls for about 0.1 ms first.
  bool wait();
  /// Carries out all orders at hand: `work` writes an env's rows and answer.
  /// What `work` throws leaves the order open: the parent waits for its deadline.
  void serve(const std::function<void(std::size_t env, Order order)>& work);

 private:
  [[nodiscard]] bool has_orders() const;
  void announce();

  SharedRows& rows_;
  Mailbox& mail_;
  EnvRange range_;
};

/// Ends this process when the other end of this pipe is closed: the parent has ended, in whatever
/// way. What the process has started ends before it, and so does the group that it leads. Works
/// while the process is stuck in an env's code.
void end_with_parent(int pipe);

}  // namespace penstock
