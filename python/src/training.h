#pragma once
#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <string>

#include "bind.h"
#include "penstock/store/run_dir.h"
#include "penstock/train/trainer.h"

namespace penstock::python {

/// Computes with one intra-op thread, as shards do; the caller's number is given back.
class OneTorchThread {
 public:
  OneTorchThread();
  ~OneTorchThread();
  OneTorchThread(const OneTorchThread&) = delete;
  OneTorchThread& operator=(const OneTorchThread&) = delete;

 private:
  int before_;
};

/// What Python is told while a run goes on, under the interpreter's lock. The first two return
/// whether to stop.
struct Watcher {
  std::function<bool(const Progress&)> progress;
  std::function<bool(const Progress&, const Metrics&)> logged;
  std::function<void(const std::string&)> note;
};

/// A run with its directory, watched from Python: what `penstock train` and `penstock resume` do.
class Training {
 public:
  /// Fresh, with this manifest, when `manifest` is not empty; else resumed. Holds the directory's
  /// lock until destruction.
  Training(std::shared_ptr<Plan> plan, const std::string& path, const std::string& manifest,
           Watcher watcher);

  /// Until the budget is spent or the watcher stops it; saved either way. What a watcher throws,
  /// Ctrl-C included, is thrown again once the run is saved.
  Summary run();
  /// A checkpoint now; only from a watcher.
  void save() { trainer_.save(); }
  /// For use at rest: before and after run(), and from a watcher.
  [[nodiscard]] Engine& engine() { return trainer_.engine(); }

 private:
  Observer observer();
  void ask(const std::function<bool()>& question);

  std::shared_ptr<Plan> plan_;
  Watcher watcher_;
  std::atomic<bool> stop_{false};
  std::exception_ptr failure_;
  RunDir dir_;
  Trainer trainer_;
};

}  // namespace penstock::python
