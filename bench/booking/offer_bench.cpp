// How long pricing the 16 offers takes on plans of 100 rides, and how long a day takes to generate.
//     offer_bench [QUERIES]
//     offer_bench write FILE          one such query, for bench/booking/offer_server
//     offer_bench price FILE TIMES    microseconds of each answer to it, text to text
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "penstock/core/base/stopwatch.h"
#include "penstock/domains/booking/offer/offer.h"
#include "penstock/domains/booking/routing/generators.h"
#include "penstock/domains/booking/routing/tours.h"

namespace {

using namespace penstock::booking;
using nlohmann::json;

constexpr std::int32_t kPlanned = 100;

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

json stop_json(const Instance& day, std::int32_t node) {
  const auto at = static_cast<std::size_t>(node);
  return {{"x", day.points[at].x},
          {"y", day.points[at].y},
          {"earliest", day.nodes[at].window.earliest},
          {"latest", day.nodes[at].window.latest}};
}

/// A plan of 100 rides by insertion, and one more.
std::string make_query(const Generator& generator, std::uint64_t seed) {
  Instance day;
  generator.make(seed, day);
  Tours tours;
  tours.clear(day);
  for (std::int32_t i = 0; i < kPlanned; ++i) {
    const Insertion place = tours.cheapest(i);
    if (!place.fits()) { return {}; }
    tours.insert(i, place);
  }
  json query = {{"mode", "ride"},
                {"vehicles", day.vehicles},
                {"capacity", day.capacity},
                {"depot", {{"x", day.points[0].x}, {"y", day.points[0].y}}},
                {"requests", json::array()},
                {"routes", json::array()}};
  for (std::int32_t i = 0; i <= kPlanned; ++i) {
    const std::int32_t first = day.first_node(i);
    const json request = {{"id", fmt::format("r{}", i)},
                          {"pickup", stop_json(day, first)},
                          {"dropoff", stop_json(day, first + 1)}};
    if (i < kPlanned) {
      query["requests"].push_back(request);
    } else {
      query["new"] = request;
    }
  }
  for (const auto& route : tours.plan().routes) {
    json ids = json::array();
    for (const std::int32_t node : route) {
      ids.push_back(fmt::format("r{}", day.request_of(node)));
    }
    query["routes"].push_back(ids);
  }
  return query.dump();
}

struct Times {
  std::vector<double> wall;
  std::vector<double> cpu;
};

template <class Work>
void measure(Times& times, Work work) {
  const double cpu = cpu_seconds();
  const penstock::Stopwatch watch;
  work();
  times.wall.push_back(watch.seconds());
  times.cpu.push_back(cpu_seconds() - cpu);
}

void print(const char* what, Times times) {
  for (auto* list : {&times.wall, &times.cpu}) {
    std::sort(list->begin(), list->end());
    const auto at = [&](double share) {
      return 1e6 * (*list)[static_cast<std::size_t>(share * static_cast<double>(list->size() - 1))];
    };
    fmt::print("| {}, {} | {:.0f} | {:.0f} | {:.0f} |\n", what, list == &times.cpu ? "CPU" : "wall",
               at(0.5), at(0.99), at(1));
  }
}

void time_days(const char* name) {
  constexpr int kDays = 20000;
  const auto generator = make_generator(name, {});
  Instance day;
  generator->make(0, day);
  const double cpu = cpu_seconds();
  for (std::uint64_t seed = 1; seed <= kDays; ++seed) { generator->make(seed, day); }
  fmt::print("{}: {:.2f} us of CPU per day of 30 rides\n", name,
             1e6 * (cpu_seconds() - cpu) / kDays);
}

Generator& city() {
  static const auto generator = make_generator("city", {.requests = kPlanned + 1, .vehicles = 20});
  return *generator;
}

int write_query(const char* file) {
  for (std::uint64_t seed = 0;; ++seed) {
    const std::string text = make_query(city(), seed);
    if (text.empty()) { continue; }
    std::ofstream(file) << text;
    return 0;
  }
}

int price_query(const char* file, int times) {
  const std::string text(std::istreambuf_iterator<char>(std::ifstream(file).rdbuf()), {});
  OfferPricer pricer;
  std::vector<double> seconds;
  for (int i = 0; i < times; ++i) {
    const penstock::Stopwatch watch;
    const OfferQuery query = parse_offer_query(text, "bench");
    const std::string answer = offers_json(query, pricer.price(query));
    seconds.push_back(watch.seconds());
  }
  for (const double each : seconds) { fmt::print("{:.1f}\n", 1e6 * each); }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 2 && words[0] == "write") { return write_query(argv[2]); }
  if (words.size() == 3 && words[0] == "price") {
    return price_query(argv[2], std::stoi(words[2]));
  }
  const int queries = argc > 1 ? std::stoi(words[0]) : 2000;
  OfferPricer pricer;
  Times parse;
  Times price;
  Times tell;
  Times all;
  std::size_t bytes = 0;
  for (int seed = 0; seed < queries; ++seed) {
    const std::string text = make_query(city(), static_cast<std::uint64_t>(seed));
    if (text.empty()) { continue; }
    measure(all, [&] {
      OfferQuery query;
      OfferPrices offers;
      measure(parse, [&] { query = parse_offer_query(text, "bench"); });
      measure(price, [&] { offers = pricer.price(query); });
      measure(tell, [&] { bytes += offers_json(query, offers).size(); });
    });
  }
  fmt::print("{} queries, {} bytes of answers each\n", all.wall.size(), bytes / all.wall.size());
  fmt::print("| us | p50 | p99 | worst |\n|---|---|---|---|\n");
  print("pricing 16 offers", price);
  print("reading and checking the query", parse);
  print("writing the answer", tell);
  print("text to text", all);
  time_days("city");
  time_days("delivery");
  time_days("clustered");
  return 0;
}
