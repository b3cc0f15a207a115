#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "penstock/core/base/thread_pool.h"
#include "penstock/domains/booking/routing/instance.h"

namespace penstock::booking {

/// Which days a network learns from: batches hold one kind.
struct CaseKind {
  Mode mode = Mode::ride;
  std::int32_t requests = 30;
  bool operator==(const CaseKind&) const = default;
};

/// Kinds of days: rides of the generator `city`, deliveries of `delivery`, some of either
/// `clustered`.
enum class Modes : std::uint8_t { both, ride, deliver };

/// A kind at random: sizes of 3 to 50 requests, those of 20, 30 and 50 more often.
CaseKind draw_kind(Modes modes, std::uint64_t seed, std::uint64_t number);

/// A day to plan. Windows are as wished or changed by random offers; the number of vehicles, the
/// widths of windows and the longest ride vary.
Instance make_case(const CaseKind& kind, std::uint64_t seed);

/// A day with a teacher's plan; without routes where the teacher did not serve everybody.
struct Demonstration {
  CaseKind kind;
  std::uint64_t seed = 0;
  Plan plan;
};

/// The teacher: every request put in by `relocate`, and rr-N on the whole at the end, N forty times
/// the requests. For a third of the time rides come out about as good as by rr-200 after each
/// request, deliveries up to 1 % worse.
Demonstration make_demonstration(const CaseKind& kind, std::uint64_t seed);

/// Demonstrations 0 to count - 1 of a seed, for any pool; progress is reported now and then.
std::vector<Demonstration> make_demonstrations(
    Modes modes, std::size_t count, std::uint64_t seed, ThreadPool& pool,
    const std::function<void(std::size_t done)>& progress);

/// A text file: a line per demonstration.
void save_demonstrations(const std::string& path, const std::vector<Demonstration>& demonstrations);
/// Throws DataError that names the line.
std::vector<Demonstration> load_demonstrations(const std::string& path);

}  // namespace penstock::booking
