#pragma once
#include <cstddef>
#include <functional>

#include "penstock/procs/shared_rows.h"

namespace penstock {

/// The worker's end of shared rows.
class WorkerPort {
 public:
  WorkerPort(SharedRows& rows, std::size_t worker);

  [[nodiscard]] EnvRange range() const { return range_; }
  /// Sleeps until there are orders; false when the parent wants the worker to end.
  bool wait();
  /// Carries out all orders at hand: `work` writes an env's rows and answer.
  void serve(const std::function<void(std::size_t env, Order order)>& work);

 private:
  [[nodiscard]] bool has_orders() const;
  void announce();

  SharedRows& rows_;
  Mailbox& mail_;
  EnvRange range_;
};

/// Ends this process, without ceremony, once nobody holds the other end of this pipe: when the
/// parent is gone, however it went. Works while the process is stuck in an env's code.
void end_with_parent(int pipe);

}  // namespace penstock
