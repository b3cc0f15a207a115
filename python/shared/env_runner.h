#pragma once
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <sys/types.h>

#include <cstddef>
#include <vector>

#include "penstock/envs/python/shared_rows.h"

namespace penstock::python {

namespace py = pybind11;

/// Gymnasium envs behind shared rows: carries out orders. Call it with the interpreter's lock held.
class EnvRunner {
 public:
  /// `make` makes an env, see penstock_worker.factory. `passes_interrupts`: a KeyboardInterrupt is
  /// the user's, not a failure of the env, and leaves work().
  EnvRunner(SharedRows& rows, py::object make, bool passes_interrupts = false);

  /// Writes the env's rows and answer; what the env throws becomes its message.
  void work(std::size_t env, Order order);
  void close();

 private:
  struct Held {
    py::object env;
    py::object step;
    py::object reset;
    py::object codec;
    bool plain = false;     // an observation is one array, and its numbers are the row
    bool discrete = false;  // an action is one whole number
    std::int64_t start = 0;
    bool in_episode = false;
    py::array obs_row;  // views of the rows, for what is not plain
    py::array final_row;
    py::array legal_row;
  };

  /// Ends this process if it is a fork that the env has made just now and that comes back from the
  /// env's code: the rows belong to the process that it was forked from.
  void end_if_forked() const;
  void build(std::size_t env);
  void drop(std::size_t env);
  void begin_episode(std::size_t env);
  void step(std::size_t env);
  void write_stats(std::size_t env, const py::object& info);
  void carry_state(std::size_t env, const char* way);
  py::object action(std::size_t env);
  void write_obs(Held& held, const py::object& obs, std::span<float> row, const py::array& view);
  void write_legal(std::size_t env, const py::object& obs, const py::object& info);

  SharedRows& rows_;
  pid_t pid_ = 0;  // when the order came
  py::object make_;
  bool passes_interrupts_;
  py::object codec_type_;
  py::object int64_;
  py::object info_keys_;    // of the infos that end an episode, for statistics
  std::vector<Held> held_;  // [N], empty where the env is another worker's
};

}  // namespace penstock::python
