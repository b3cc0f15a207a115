#include "py_carrier.h"

#include <pybind11/numpy.h>

#include <chrono>
#include <cstring>

namespace penstock::python {
namespace {

std::vector<std::byte> bytes_of(const py::buffer& buffer) {
  const py::buffer_info info = buffer.request();
  std::vector<std::byte> bytes(static_cast<std::size_t>(info.size * info.itemsize));
  if (!bytes.empty()) { std::memcpy(bytes.data(), info.ptr, bytes.size()); }
  return bytes;
}

py::bytes to_python(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

PyCarrier::PyCarrier(const py::object& object)
    : object_(shared_reference(object)), num_seats_(object.attr("num_seats").cast<std::size_t>()) {}

std::vector<std::byte> PyCarrier::next(std::chrono::milliseconds wait) {
  const py::gil_scoped_acquire gil;
  const py::object message = object_->attr("next")(std::chrono::duration<double>(wait).count());
  return message.is_none() ? std::vector<std::byte>() : bytes_of(message.cast<py::buffer>());
}

void PyCarrier::publish(const PolicyModel& model) {
  const py::gil_scoped_acquire gil;
  const py::array_t<float> weights(model.shape().num_floats, model.weights());
  object_->attr("publish")(weights, model.version());
}

std::vector<SamplerState> PyCarrier::save() {
  const py::gil_scoped_acquire gil;
  std::vector<SamplerState> states;
  for (const py::handle each : object_->attr("save")()) {
    const auto place = each.cast<py::tuple>();
    states.push_back({.seat = place[0].cast<std::int64_t>(),
                      .epoch = place[1].cast<std::int64_t>(),
                      .number = place[2].cast<std::int64_t>(),
                      .bytes = bytes_of(place[3].cast<py::buffer>())});
  }
  return states;
}

void PyCarrier::load(const std::vector<SamplerState>& states, std::int64_t num_taken) {
  const py::gil_scoped_acquire gil;
  py::list all;
  for (const SamplerState& each : states) {
    all.append(py::make_tuple(each.seat, each.epoch, each.number, to_python(each.bytes)));
  }
  object_->attr("load")(all, num_taken);
}

}  // namespace penstock::python
