#pragma once
#include <memory>
#include <vector>

#include "bind.h"
#include "penstock/core/train/carrier.h"

namespace penstock::python {

/// A carrier written in Python: an object with num_seats, next(seconds), publish(weights, version),
/// save() and load(states, num_taken); states are tuples (seat, epoch, number, bytes). Takes the
/// interpreter's lock for each call.
class PyCarrier : public Carrier {
 public:
  explicit PyCarrier(const py::object& object);

  [[nodiscard]] std::size_t num_seats() const override { return num_seats_; }
  std::vector<std::byte> next(std::chrono::milliseconds wait) override;
  void publish(const PolicyModel& model) override;
  std::vector<SamplerState> save() override;
  void load(const std::vector<SamplerState>& states, std::int64_t num_taken) override;

 private:
  std::shared_ptr<py::object> object_;
  std::size_t num_seats_;
};

}  // namespace penstock::python
