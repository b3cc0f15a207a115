#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/domains/booking/routing/instance.h"

namespace penstock::booking {

/// What a generator needs to know.
struct GeneratorConfig {
  Mode mode = Mode::ride;
  std::int32_t requests = 30;
  std::int32_t vehicles = 5;
  std::int32_t capacity = 0;  // 0: the generator's own (ride 4, deliver 40)
  Seconds window = 1800;      // between earliest and latest start of service
  Seconds service = 60;
  Seconds max_ride = 0;  // 0: no limit
  std::string file;      // of solomon, ortec and csv
};

/// Makes a day of requests from a seed, in the order in which they call.
/// Deterministic, and safe to use from several threads at once.
class Generator {
 public:
  virtual ~Generator() = default;
  /// Fills `into`, reusing its memory; allocates nothing from the second call on.
  virtual void make(std::uint64_t seed, Instance& into) const = 0;
  /// The side of the square that its points lie in, metres; for observations.
  [[nodiscard]] virtual double side() const = 0;
};

/// The unit of the costs of a generator's days: seconds for ortec, whose files know durations
/// alone.
CostUnit unit_of(std::string_view generator);

/// city, delivery, clustered, solomon, ortec or csv. Throws UsageError that names these.
std::unique_ptr<Generator> make_generator(std::string_view name, const GeneratorConfig& config);

}  // namespace penstock::booking
