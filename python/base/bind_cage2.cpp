#include <pybind11/numpy.h>

#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "bind.h"
#include "penstock/core/base/config.h"
#include "penstock/core/base/errors.h"
#include "penstock/domains/cage2/sim/belief.h"
#include "penstock/domains/cage2/sim/defender.h"
#include "penstock/domains/cage2/sim/mask.h"
#include "penstock_docs.h"

namespace penstock::python {
namespace {

using namespace cage2;
using Bits = py::array_t<float, py::array::c_style | py::array::forcecast>;
using Floats = py::array_t<float>;

ObsBits bits_of(const Bits& obs) {
  if (obs.ndim() != 1 || obs.size() != static_cast<py::ssize_t>(kObsSize)) {
    throw UsageError("obs: expected the 52 numbers of one game");
  }
  ObsBits bits = 0;
  for (std::size_t i = 0; i < kObsSize; ++i) {
    if (obs.data()[i] != 0) { bits |= ObsBits{1} << i; }
  }
  return bits;
}

Flag flag_of(const std::optional<bool>& success) {
  if (!success) { return Flag::unknown; }
  return *success ? Flag::yes : Flag::no;
}

void require_host(std::int64_t host) {
  if (host < 0 || host >= static_cast<std::int64_t>(kNumHosts)) {
    throw UsageError("host: expected 0 to 12, as penstock.cage2.HOSTS has them");
  }
}

template <class T>
Floats features_of(const T& self) {
  Floats row(static_cast<py::ssize_t>(T::kSize));
  self.write(std::span(row.mutable_data(), T::kSize));
  return row;
}

std::vector<int> hosts_of(HostSet set) {
  std::vector<int> hosts;
  for (std::uint8_t h = 0; h < kNumHosts; ++h) {
    if (has(set, h)) { hosts.push_back(h); }
  }
  return hosts;
}

/// Types with commas, or a sequence of them.
using OrderWords = std::variant<std::string, std::vector<std::string>>;

Order order_from(const OrderWords& words) {
  if (const auto* text = std::get_if<std::string>(&words)) { return order_of(*text); }
  std::string text;
  for (const std::string& word : std::get<std::vector<std::string>>(words)) {
    text += (text.empty() ? "" : ",") + word;
  }
  return order_of(text);
}

py::array_t<bool> mask_of(const Memory& self, const Bits& obs,
                          const std::optional<OrderWords>& order, bool macro) {
  const std::size_t count = macro ? kNumMacros : kNumActions;
  const Order by = order ? order_from(*order) : Order{};
  py::array_t<bool> open(static_cast<py::ssize_t>(count));
  write_mask(bits_of(obs), self, order ? &by : nullptr, std::span(open.mutable_data(), count));
  return open;
}

/// Of a game as cage2_defender plays it, with these keys.
BeliefFilter filter_of(std::size_t num_hypotheses, const Settings& settings) {
  DefenderEnv::Config config;
  std::vector<Field> fields = fields_of(config, "env.");
  penstock::apply(fields, settings);
  return {config, num_hypotheses};
}

py::dict told(const BeliefFilter& filter) {
  const RedBelief& belief = filter.belief();
  return py::dict(py::arg("session") = belief.session, py::arg("privileged") = belief.privileged,
                  py::arg("scanned") = belief.scanned, py::arg("next") = belief.next,
                  py::arg("kind") = belief.kind, py::arg("service_down") = belief.service_down,
                  py::arg("num_hypotheses") = filter.num_hypotheses(),
                  py::arg("exact") = filter.exact(), py::arg("lost") = filter.lost());
}

}  // namespace

void bind_cage2(py::module_& m) {
  m.def(
      "cage2_hosts",
      [] {
        std::vector<std::string> names;
        for (std::uint8_t h = 0; h < kNumHosts; ++h) { names.emplace_back(host_name(h)); }
        return names;
      },
      "Names by number.");
  m.def(
      "cage2_host_types",
      [] {
        std::vector<std::string> names;
        for (std::uint8_t h = 0; h < kNumHosts; ++h) { names.emplace_back(type_name(type_of(h))); }
        return names;
      },
      "Names of the hosts' types, by number.");
  py::class_<Memory>(m, "Cage2Memory", docs::Memory)
      .def(py::init<>())
      .def("reset", &Memory::reset, docs::Memory_reset)
      .def(
          "note",
          [](Memory& self, std::int64_t action, std::optional<bool> success, const Bits& obs) {
            self.note(action, flag_of(success), bits_of(obs));
          },
          py::arg("action"), py::arg("success"), py::arg("obs"), docs::Memory_note)
      .def("features", &features_of<Memory>, docs::Memory_write)
      .def(
          "next_decoy",
          [](const Memory& self, std::int64_t host) {
            require_host(host);
            return self.next_decoy(static_cast<std::uint8_t>(host));
          },
          py::arg("host"), docs::Memory_next_decoy)
      .def(
          "flagged",
          [](const Memory& self, const Bits& obs) {
            return hosts_of(flagged_hosts(bits_of(obs), self));
          },
          py::arg("obs"), docs::flagged_hosts)
      .def(
          "is_futile",
          [](const Memory& self, std::int64_t action) { return is_futile(action, self); },
          py::arg("action"), docs::is_futile)
      .def("mask", &mask_of, py::arg("obs"), py::arg("order") = py::none(),
           py::arg("macro") = false, docs::write_mask)
      .def(
          "macro_action",
          [](const Memory& self, std::int64_t macro) { return macro_action(macro, self); },
          py::arg("macro"), docs::macro_action);
  py::class_<BeliefFilter>(m, "Cage2Belief", docs::BeliefFilter)
      .def(py::init(&filter_of), py::arg("num_hypotheses"), py::arg("settings"))
      .def("reset", &BeliefFilter::reset, docs::BeliefFilter_reset)
      .def(
          "note",
          [](BeliefFilter& self, std::int64_t action, std::optional<bool> success,
             const Bits& obs) { self.note(action, flag_of(success), bits_of(obs)); },
          py::arg("action"), py::arg("success"), py::arg("obs"), docs::BeliefFilter_note)
      .def("features", &features_of<BeliefFilter>, docs::BeliefFilter_write)
      .def("told", &told, docs::RedBelief);
}

}  // namespace penstock::python
