#include "training.h"

#include <ATen/Parallel.h>

#include <utility>

namespace penstock::python {
namespace {

/// "3.11.2", as PY_VERSION spells it.
std::string python_version() {
  const std::string text = Py_GetVersion();
  return text.substr(0, text.find(' '));
}

}  // namespace

std::shared_ptr<const PolicyModel> newest_model(const Engine& engine) {
  const py::gil_scoped_release unlocked;
  return engine.model();
}

OneTorchThread::OneTorchThread() : before_(at::get_num_threads()) { use_one_torch_thread(); }
OneTorchThread::~OneTorchThread() { at::set_num_threads(before_); }

Training::Training(std::shared_ptr<RunPlan> plan, const std::string& path, bool fresh,
                   Watcher watcher, std::unique_ptr<Carrier> carrier)
    : watcher_(std::move(watcher)), carrier_(std::move(carrier)) {
  const RunOptions options{.listener = listener(),
                           .dependencies = {{"python", python_version()}},
                           .dir = path,
                           .carrier = carrier_.get()};
  run_ = fresh ? Run::fresh(std::move(plan), options) : Run::resume(path, std::move(plan), options);
}

Summary Training::run() {
  const Summary summary = run_->run(stop_);
  if (failure_) { std::rethrow_exception(std::exchange(failure_, nullptr)); }
  return summary;
}

RunListener Training::listener() {
  RunListener out;
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
