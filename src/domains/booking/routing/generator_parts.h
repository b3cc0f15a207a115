#pragma once
#include "penstock/core/base/random.h"
#include "penstock/domains/booking/routing/generators.h"

namespace penstock::booking {

/// The numbers of one day. The owner keeps them apart from what an env draws from the same seed.
inline Random day_random(std::uint64_t seed) {
  constexpr std::uint32_t kOwner = 0x64617973;
  return Random(RandomKey{.seed = seed, .owner = kOwner});
}

/// The parts of an instance that the config decides, with room for its nodes.
void begin_day(const GeneratorConfig& config, Instance& into);

/// The windows and loads of a request whose matrices are filled: picked up in [earliest, earliest +
/// window]; put down as much later as the direct way takes.
void ask_at(const GeneratorConfig& config, std::int32_t request, Seconds earliest, Instance& into);

std::unique_ptr<Generator> make_city(std::string_view name, const GeneratorConfig& config);
std::unique_ptr<Generator> make_from_file(std::string_view name, const GeneratorConfig& config);

}  // namespace penstock::booking
