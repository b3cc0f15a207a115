#include "penstock/domains/booking/neural/train/demonstrations.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/random.h"
#include "penstock/domains/booking/env/offers.h"
#include "penstock/domains/booking/routing/generators.h"
#include "penstock/domains/booking/routing/oracle.h"

namespace penstock::booking {
namespace {

constexpr std::uint32_t kKindOwner = 0x6b696e64;
constexpr std::uint32_t kCaseOwner = 0x63617365;
constexpr std::int32_t kRoundsPerRequest = 40;
constexpr std::size_t kProgress = 1000;  // demonstrations between two lines

struct Size {
  std::int32_t requests;
  std::uint32_t weight;
};
constexpr std::array<Size, 11> kSizes = {{{3, 1},
                                          {6, 2},
                                          {10, 4},
                                          {15, 4},
                                          {20, 8},
                                          {25, 6},
                                          {30, 10},
                                          {35, 4},
                                          {40, 4},
                                          {45, 4},
                                          {50, 8}}};

GeneratorConfig draw_config(const CaseKind& kind, Random& random) {
  constexpr std::array<Seconds, 3> kOtherWindows = {600, 1200, 3600};
  const std::uint32_t least = std::max(2, (kind.requests + 8) / 9);
  const std::uint32_t most = std::max(5, (kind.requests + 4) / 5);
  GeneratorConfig config{.mode = kind.mode, .requests = kind.requests};
  config.vehicles = least + random.below(most - least + 1);
  if (random.uniform() < 0.2) { config.window = kOtherWindows[random.below(3)]; }
  if (kind.mode == Mode::ride && random.uniform() < 0.1) {
    config.max_ride = 2700 + random.below(1800);
  }
  return config;
}

/// A third of the days as wished, a third with windows widened, a third with windows shifted.
void make_offers(Instance& day, Random& random) {
  const std::uint32_t kind = random.below(3);
  if (kind == 0) { return; }
  const double share = random.uniform();
  for (std::int32_t request = 0; request < day.num_requests(); ++request) {
    const std::int32_t action = random.below(kOffers);
    if (random.uniform() >= share) { continue; }
    const RequestWindows windows =
        offered_windows(day, request, kind == 1 ? OfferKind::widen : OfferKind::shift, action);
    const std::size_t node = day.first_node(request);
    day.nodes[node].window = windows[0];
    if (day.mode == Mode::ride) { day.nodes[node + 1].window = windows[1]; }
  }
}

/// The next word, if it is a whole number and nothing else.
template <class T>
bool read_whole(std::istringstream& words, T& value) {
  std::string word;
  words >> word;
  const char* const end = word.data() + word.size();
  const auto [stopped, error] = std::from_chars(word.data(), end, value);
  return error == std::errc() && stopped == end;
}

/// Whether each stop is made once, and each drop-off after its pickup on the same route.
bool serves_all(const Demonstration& demonstration) {
  const bool ride = demonstration.kind.mode == Mode::ride;
  std::size_t stops = 0;
  for (const auto& route : demonstration.plan.routes) { stops += route.size(); }
  if (stops != static_cast<std::size_t>(demonstration.kind.requests) * (ride ? 2 : 1)) {
    return false;
  }
  std::vector<const void*> made_on(stops + 1, nullptr);  // the route
  for (const auto& route : demonstration.plan.routes) {
    for (const std::int32_t node : route) {
      const auto index = static_cast<std::size_t>(node);
      if (node < 1 || index > stops || made_on[index] != nullptr) { return false; }
      if (ride && node % 2 == 0 && made_on[index - 1] != &route) { return false; }
      made_on[index] = &route;
    }
  }
  return true;
}

std::optional<Demonstration> demonstration_of(const std::string& line) {
  std::istringstream words(line);
  std::string mode;
  Demonstration demonstration;
  words >> mode;
  if ((mode != to_string(Mode::ride) && mode != to_string(Mode::deliver)) ||
      !read_whole(words, demonstration.kind.requests) || !read_whole(words, demonstration.seed)) {
    return std::nullopt;
  }
  demonstration.kind.mode = mode == to_string(Mode::ride) ? Mode::ride : Mode::deliver;
  auto& routes = demonstration.plan.routes;
  while (!(words >> std::ws).eof()) {
    std::int32_t node = 0;
    if (!read_whole(words, node) || (node != 0 && routes.empty())) { return std::nullopt; }
    if (node == 0) {
      routes.emplace_back();
    } else {
      routes.back().push_back(node);
    }
  }
  if (demonstration.kind.requests < 1 || !serves_all(demonstration)) { return std::nullopt; }
  return demonstration;
}

}  // namespace

CaseKind draw_kind(Modes modes, std::uint64_t seed, std::uint64_t number) {
  Random random({.seed = seed, .owner = kKindOwner, .episode = number});
  CaseKind kind;
  const bool ride = random.below(2) == 0;
  kind.mode = (modes == Modes::both ? ride : modes == Modes::ride) ? Mode::ride : Mode::deliver;
  std::uint32_t total = 0;
  for (const Size& size : kSizes) { total += size.weight; }
  std::uint32_t place = random.below(total);
  for (const Size& size : kSizes) {
    kind.requests = size.requests;
    if (place < size.weight) { break; }
    place -= size.weight;
  }
  return kind;
}

Instance make_case(const CaseKind& kind, std::uint64_t seed) {
  Random random({.seed = seed, .owner = kCaseOwner});
  const GeneratorConfig config = draw_config(kind, random);
  const bool clustered = random.uniform() < 0.1;
  const char* plain = kind.mode == Mode::ride ? "city" : "delivery";
  Instance day;
  make_generator(clustered ? "clustered" : plain, config)->make(seed, day);
  make_offers(day, random);
  return day;
}

Demonstration make_demonstration(const CaseKind& kind, std::uint64_t seed) {
  const Instance day = make_case(kind, seed);
  const auto quick = make_search_oracle("relocate");
  const auto thorough = make_search_oracle(fmt::format("rr-{}", kRoundsPerRequest * kind.requests));
  Demonstration demonstration{.kind = kind, .seed = seed, .plan = {}};
  demonstration.plan.routes.resize(static_cast<std::size_t>(day.vehicles));
  std::vector<std::int32_t> served;
  for (std::int32_t request = 0; request < kind.requests; ++request) {
    RoutingProblem problem{.instance = &day,
                           .served = served,
                           .request = request,
                           .seed = seed + static_cast<std::uint64_t>(request),
                           .plan = &demonstration.plan};
    const bool last = request + 1 == kind.requests;
    (last ? thorough : quick)->solve({&problem, 1});
    if (!problem.fits) {
      demonstration.plan.routes.clear();
      return demonstration;
    }
    served.push_back(request);
  }
  return demonstration;
}

std::vector<Demonstration> make_demonstrations(
    Modes modes, std::size_t count, std::uint64_t seed, ThreadPool& pool,
    const std::function<void(std::size_t done)>& progress) {
  std::vector<Demonstration> demonstrations(count);
  for (std::size_t begin = 0; begin < count; begin += kProgress) {
    const std::size_t size = std::min(kProgress, count - begin);
    pool.run(size, [&](std::size_t i) {
      const std::uint64_t number = begin + i;
      demonstrations[number] =
          make_demonstration(draw_kind(modes, seed, number), episode_seed(seed, 0, number));
    });
    progress(begin + size);
  }
  std::erase_if(demonstrations, [](const Demonstration& demonstration) {
    return demonstration.plan.routes.empty();
  });
  return demonstrations;
}

void save_demonstrations(const std::string& path,
                         const std::vector<Demonstration>& demonstrations) {
  std::ofstream out(path);
  for (const Demonstration& demonstration : demonstrations) {
    out << to_string(demonstration.kind.mode) << ' ' << demonstration.kind.requests << ' '
        << demonstration.seed;
    for (const auto& route : demonstration.plan.routes) {
      out << " 0";
      for (const std::int32_t node : route) { out << ' ' << node; }
    }
    out << '\n';
  }
  out.flush();
  if (!out) { throw IoError(fmt::format("{}: cannot be written; is there room?", path)); }
}

std::vector<Demonstration> load_demonstrations(const std::string& path) {
  std::ifstream in(path);
  if (!in) { throw IoError(fmt::format("{}: cannot be read", path)); }
  std::vector<Demonstration> demonstrations;
  for (std::string line; std::getline(in, line);) {
    // A line without an end was cut, maybe inside its last number.
    std::optional<Demonstration> demonstration = in.eof() ? std::nullopt : demonstration_of(line);
    if (!demonstration) {
      throw DataError(fmt::format("{}:{}: not a lesson; delete the file to have it made anew", path,
                                  demonstrations.size() + 1));
    }
    demonstrations.push_back(std::move(*demonstration));
  }
  return demonstrations;
}

}  // namespace penstock::booking
