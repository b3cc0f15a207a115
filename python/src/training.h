#pragma once
#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <string>

#include "bind.h"
#include "penstock/core/train/engine.h"
#include "penstock/core/train/run.h"

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

/// Engine::model() without the interpreter's lock: a learner that it waits for may need it.
std::shared_ptr<const PolicyModel> newest_model(const Engine& engine);

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
  /// A fresh run, or a resumed one. Holds the directory's lock until destruction. With a carrier
  /// its samplers are in other processes.
  Training(std::shared_ptr<RunPlan> plan, const std::string& path, bool fresh, Watcher watcher,
           std::unique_ptr<Carrier> carrier);

  /// Until the budget is spent or the watcher stops it; saved either way. What a watcher throws,
  /// Ctrl-C included, is thrown again once the run is saved.
  Summary run();
  /// A checkpoint now; only from a watcher.
  void save() { run_->save(); }
  /// For use at rest: before and after run(), and from a watcher.
  [[nodiscard]] Engine& engine() { return run_->engine(); }

 private:
  RunListener listener();
  void ask(const std::function<bool()>& question);

  Watcher watcher_;
  std::unique_ptr<Carrier> carrier_;
  std::atomic<bool> stop_{false};
  std::exception_ptr failure_;
  std::unique_ptr<Run> run_;
};

}  // namespace penstock::python
