#include "penstock/routing_nn_train/lessons.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>

#include "penstock/base/errors.h"
#include "penstock/base/random.h"
#include "penstock/routing/generators.h"
#include "penstock/routing/offers.h"
#include "penstock/routing/oracle.h"
#include "routing_nn_train/words.h"

namespace penstock::routing {
namespace {

constexpr std::uint32_t kKindOwner = 0x6b696e64;
constexpr std::uint32_t kCaseOwner = 0x63617365;
constexpr std::int32_t kRoundsPerRequest = 40;
constexpr std::size_t kProgress = 1000;  // lessons between two lines

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
  const auto least = static_cast<std::uint32_t>(std::max(2, (kind.requests + 8) / 9));
  const auto most = static_cast<std::uint32_t>(std::max(5, (kind.requests + 4) / 5));
  GeneratorConfig config{.mode = kind.mode, .requests = kind.requests};
  config.vehicles = static_cast<std::int32_t>(least + random.below(most - least + 1));
  if (random.uniform() < 0.2) { config.window = kOtherWindows[random.below(3)]; }
  if (kind.mode == Mode::ride && random.uniform() < 0.1) {
    config.max_ride = 2700 + static_cast<Seconds>(random.below(1800));
  }
  return config;
}

/// A third of the days as wished, a third with windows widened, a third with windows shifted.
void make_offers(Instance& day, Random& random) {
  const std::uint32_t kind = random.below(3);
  if (kind == 0) { return; }
  const double share = random.uniform();
  for (std::int32_t request = 0; request < day.num_requests(); ++request) {
    const auto action = static_cast<std::int32_t>(random.below(kOffers));
    if (random.uniform() >= share) { continue; }
    const RequestWindows windows =
        offered_windows(day, request, kind == 1 ? OfferKind::widen : OfferKind::shift, action);
    const auto node = static_cast<std::size_t>(day.first_node(request));
    day.nodes[node].window = windows[0];
    if (day.mode == Mode::ride) { day.nodes[node + 1].window = windows[1]; }
  }
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

Lesson make_lesson(const CaseKind& kind, std::uint64_t seed) {
  const Instance day = make_case(kind, seed);
  const auto quick = make_search_oracle("relocate");
  const auto thorough = make_search_oracle(fmt::format("rr-{}", kRoundsPerRequest * kind.requests));
  Lesson lesson{.kind = kind, .seed = seed, .plan = {}};
  lesson.plan.routes.resize(static_cast<std::size_t>(day.vehicles));
  std::vector<std::int32_t> served;
  for (std::int32_t request = 0; request < kind.requests; ++request) {
    RoutingProblem problem{.instance = &day,
                           .served = served,
                           .request = request,
                           .seed = seed + static_cast<std::uint64_t>(request),
                           .plan = &lesson.plan};
    const bool last = request + 1 == kind.requests;
    (last ? thorough : quick)->solve({&problem, 1});
    if (!problem.fits) {
      lesson.plan.routes.clear();
      return lesson;
    }
    served.push_back(request);
  }
  return lesson;
}

std::vector<Lesson> make_lessons(Modes modes, std::size_t count, std::uint64_t seed,
                                 ThreadPool& pool,
                                 const std::function<void(std::size_t done)>& progress) {
  std::vector<Lesson> lessons(count);
  for (std::size_t begin = 0; begin < count; begin += kProgress) {
    const std::size_t size = std::min(kProgress, count - begin);
    pool.run(size, [&](std::size_t i) {
      const std::uint64_t number = begin + i;
      lessons[number] = make_lesson(draw_kind(modes, seed, number), episode_seed(seed, 0, number));
    });
    progress(begin + size);
  }
  std::erase_if(lessons, [](const Lesson& lesson) { return lesson.plan.routes.empty(); });
  return lessons;
}

void save_lessons(const std::string& path, const std::vector<Lesson>& lessons) {
  std::ofstream out(path);
  for (const Lesson& lesson : lessons) {
    out << word_of(lesson.kind.mode) << ' ' << lesson.kind.requests << ' ' << lesson.seed;
    for (const auto& route : lesson.plan.routes) {
      out << " 0";
      for (const std::int32_t node : route) { out << ' ' << node; }
    }
    out << '\n';
  }
  out.flush();
  if (!out) { throw IoError(fmt::format("{}: cannot be written; is there room?", path)); }
}

std::vector<Lesson> load_lessons(const std::string& path) {
  std::ifstream in(path);
  if (!in) { throw IoError(fmt::format("{}: cannot be read", path)); }
  std::vector<Lesson> lessons;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string mode;
    Lesson lesson;
    words >> mode >> lesson.kind.requests >> lesson.seed;
    lesson.kind.mode = mode == "deliver" ? Mode::deliver : Mode::ride;
    for (std::int32_t node = 0; words >> node;) {
      if (node == 0) {
        lesson.plan.routes.emplace_back();
      } else if (!lesson.plan.routes.empty()) {
        lesson.plan.routes.back().push_back(node);
      }
    }
    if (lesson.plan.routes.empty() || lesson.kind.requests < 1) {
      throw DataError(fmt::format("{}:{}: not a lesson; delete the file to have it made anew", path,
                                  lessons.size() + 1));
    }
    lessons.push_back(std::move(lesson));
  }
  return lessons;
}

}  // namespace penstock::routing
