#include "shared/env_runner.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace penstock::python {
namespace {

/// A view of a row as an array.
template <class T>
py::array view_of(std::span<T> row) {
  return py::array_t<T>({static_cast<py::ssize_t>(row.size())}, row.data(), py::none());
}

/// The error as a person wants to read it: what, and where in the env's code.
std::string said(py::error_already_set& error) {
  try {
    const py::object value = error.value();
    if (error.trace()) { value.attr("__traceback__") = error.trace(); }
    return py::module_::import("penstock_worker.process").attr("said")(value).cast<std::string>();
  } catch (const std::exception&) { return error.what(); }
}

void write_message(std::span<char> into, const std::string& text) {
  const std::size_t size = std::min(text.size(), into.size() - 1);
  std::memcpy(into.data(), text.data(), size);
  into[size] = 0;
}

bool truth(const py::handle& object) {
  const int answer = PyObject_IsTrue(object.ptr());
  if (answer < 0) { throw py::error_already_set(); }
  return answer != 0;
}

/// A function of penstock_worker.contract: it says what is wrong, and what to do.
py::object contract(const char* function) {
  return py::module_::import("penstock_worker.contract").attr(function);
}

Success success_of(const py::object& info) {
  for (const char* key : {"is_success", "success"}) {
    if (info.contains(key)) { return truth(info[key]) ? Success::yes : Success::no; }
  }
  return Success::unknown;
}

/// What step() or reset() returned, as a tuple of that many; `check` refuses what is none.
py::tuple parts_of(const py::object& result, std::size_t count, const char* check) {
  if (!py::isinstance<py::tuple>(result) || py::len(result) != count) { contract(check)(result); }
  return result.cast<py::tuple>();
}

double reward_of(const py::object& reward) {
  const double number = PyFloat_AsDouble(reward.ptr());
  if (number != -1.0 || PyErr_Occurred() == nullptr) { return number; }
  PyErr_Clear();
  return contract("reward_of")(reward).cast<double>();
}

py::object info_of(const py::object& info) {
  return PyDict_Check(info.ptr()) != 0 ? info : contract("info_of")(info);
}

}  // namespace

EnvRunner::EnvRunner(SharedRows& rows, py::object make, bool passes_interrupts)
    : rows_(rows),
      make_(std::move(make)),
      passes_interrupts_(passes_interrupts),
      codec_type_(py::module_::import("penstock_worker.spaces").attr("EnvCodec")),
      int64_(py::module_::import("numpy").attr("int64")),
      info_keys_(make_.attr("info_keys")),
      held_(rows.num_envs()) {}

void EnvRunner::work(std::size_t env, Order order) {
  pid_ = ::getpid();
  Held& held = held_[env];
  const bool carries = order == Order::keep || order == Order::restore;
  if ((order == Order::step || carries) && !held.in_episode) {
    rows_.answer(env) = Answer::absent;
    return;
  }
  try {
    if (order == Order::rebuild) { drop(env); }
    if (!held.env) { build(env); }
    rows_.reward(env) = 0;
    rows_.terminated(env) = rows_.truncated(env) = false;
    if (order == Order::step) {
      step(env);
    } else if (carries) {
      carry_state(env, order == Order::keep ? "keep" : "bring_back");
    } else {
      begin_episode(env);
    }
    rows_.answer(env) = Answer::ok;
  } catch (py::error_already_set& error) {
    end_if_forked();
    held.in_episode = held.in_episode && carries;
    if (passes_interrupts_ && error.matches(PyExc_KeyboardInterrupt)) { throw; }
    write_message(rows_.message(env), said(error));
    rows_.answer(env) = Answer::failed;
  } catch (const std::exception& error) {  // raised on this side of the border
    end_if_forked();
    held.in_episode = held.in_episode && carries;
    write_message(rows_.message(env), error.what());
    rows_.answer(env) = Answer::failed;
  }
}

void EnvRunner::end_if_forked() const {
  if (::getpid() != pid_) { ::_exit(0); }
}

void EnvRunner::build(std::size_t env) {
  Held& held = held_[env];
  held.env = make_();
  end_if_forked();
  held.codec = codec_type_(held.env, rows_.mask_width() > 0);
  held.step = held.env.attr("step");
  held.reset = held.env.attr("reset");
  held.plain = held.codec.attr("plain").cast<bool>();
  held.discrete = held.codec.attr("discrete").cast<bool>();
  held.start = held.codec.attr("start").cast<std::int64_t>();
  held.obs_row = view_of(rows_.obs(env));
  held.final_row = view_of(rows_.final_obs(env));
  held.legal_row = view_of(rows_.legal(env));
}

void EnvRunner::drop(std::size_t env) {
  Held& held = held_[env];
  if (!held.env) { return; }
  try {
    held.env.attr("close")();
  } catch (const py::error_already_set&) {  // it failed before; that it cannot close is no news
  }
  held = {};
}

void EnvRunner::close() {
  for (std::size_t i = 0; i < held_.size(); ++i) { drop(i); }
}

void EnvRunner::begin_episode(std::size_t env) {
  Held& held = held_[env];
  held.in_episode = false;
  const py::object answer = held.reset(py::arg("seed") = rows_.seed(env));
  end_if_forked();
  const py::tuple result = parts_of(answer, 2, "two_of");
  write_obs(held, result[0], rows_.obs(env), held.obs_row);
  write_legal(env, result[0], result[1]);
  held.in_episode = true;
}

void EnvRunner::step(std::size_t env) {
  Held& held = held_[env];
  const py::object answer = held.step(action(env));
  end_if_forked();
  const py::tuple result = parts_of(answer, 5, "five_of");
  const py::object obs = result[0];
  const py::object info = info_of(result[4]);
  rows_.reward(env) = static_cast<float>(reward_of(result[1]));
  const bool terminated = truth(result[2]);
  const bool truncated = truth(result[3]);
  rows_.terminated(env) = terminated;
  rows_.truncated(env) = truncated;
  if (!terminated && !truncated) {
    write_obs(held, obs, rows_.obs(env), held.obs_row);
    write_legal(env, obs, info);
    return;
  }
  rows_.success(env) = success_of(info);
  write_stats(env, info);
  write_obs(held, obs, rows_.final_obs(env), held.final_row);
  begin_episode(env);
}

void EnvRunner::write_stats(std::size_t env, const py::object& info) {
  std::size_t next = 0;
  for (const py::handle& key : info_keys_) {
    rows_.stats(env)[next++] = contract("number_in")(info, key).cast<double>();
  }
}

/// Between the env and the file that the message names.
void EnvRunner::carry_state(std::size_t env, const char* way) {
  const std::string path = rows_.message(env).data();
  py::module_::import("penstock_worker.state").attr(way)(held_[env].env, path);
}

py::object EnvRunner::action(std::size_t env) {
  Held& held = held_[env];
  if (held.discrete) { return int64_(rows_.choices(env)[0] + held.start); }
  // A copy: the env may keep its action.
  if (rows_.continuous()) {
    const auto points = rows_.points(env);
    return held.codec.attr("to_env")(
        py::array_t<float>(static_cast<py::ssize_t>(points.size()), points.data()));
  }
  const auto choices = rows_.choices(env);
  return held.codec.attr("to_env")(
      py::array_t<std::int64_t>(static_cast<py::ssize_t>(choices.size()), choices.data()));
}

void EnvRunner::write_obs(Held& held, const py::object& obs, std::span<float> row,
                          const py::array& view) {
  if (held.plain && py::isinstance<py::array_t<float, py::array::c_style>>(obs)) {
    const auto array = py::reinterpret_borrow<py::array>(obs);
    if (static_cast<std::size_t>(array.size()) == row.size()) {
      std::memcpy(row.data(), array.data(), row.size() * sizeof(float));
      return;
    }
  }
  held.codec.attr("write")(obs, view);
}

void EnvRunner::write_legal(std::size_t env, const py::object& obs, const py::object& info) {
  if (rows_.mask_width() == 0) { return; }
  Held& held = held_[env];
  held.codec.attr("legal_into")(held.env, obs, info, held.legal_row);
}

}  // namespace penstock::python
