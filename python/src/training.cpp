#include "training.h"

#include <ATen/Parallel.h>

#include <utility>

#include "penstock/base/memory.h"

namespace penstock::python {
namespace {

std::shared_ptr<Plan> possible(std::shared_ptr<Plan> plan) {
  device_of(plan->config().device);
  plan->require_memory(available_memory());
  return plan;
}

}  // namespace

OneTorchThread::OneTorchThread() : before_(at::get_num_threads()) { use_one_torch_thread(); }
OneTorchThread::~OneTorchThread() { at::set_num_threads(before_); }

Training::Training(std::shared_ptr<Plan> plan, const std::string& path, const std::string& manifest,
                   Watcher watcher)
    : plan_(possible(std::move(plan))),
      watcher_(std::move(watcher)),
      dir_(path, manifest.empty() ? RunDir::Open::resume : RunDir::Open::fresh,
           static_cast<std::size_t>(plan_->config().run.keep)),
      trainer_(*plan_, dir_, observer()) {
  dir_.write("config.toml", to_toml(plan_->fields()));
  if (manifest.empty()) {
    trainer_.resume();
  } else {
    dir_.write("manifest.json", manifest);
    trainer_.save();  // from the first moment on there is something to resume
  }
}

Summary Training::run() {
  const OneTorchThread one;
  const Summary summary = trainer_.run(stop_);
  if (failure_) { std::rethrow_exception(std::exchange(failure_, nullptr)); }
  return summary;
}

Observer Training::observer() {
  Observer out;
  out.progress = [this](const Progress& now) { ask([&] { return watcher_.progress(now); }); };
  out.logged = [this](const Progress& now, const Metrics& metrics) {
    ask([&] { return watcher_.logged(now, metrics); });
  };
  out.note = [this](const std::string& text) {
    ask([&] {
      watcher_.note(text);
      return false;
    });
  };
  return out;
}

/// The first exception ends the run and is kept for later: the run is saved before Python sees it.
void Training::ask(const std::function<bool()>& question) {
  if (failure_) { return; }
  const py::gil_scoped_acquire gil;
  try {
    if (PyErr_CheckSignals() != 0) { throw py::error_already_set(); }
    if (question()) { stop_ = true; }
  } catch (...) {
    failure_ = std::current_exception();
    stop_ = true;
  }
}

}  // namespace penstock::python
