// Free-running episodes against returns that the real simulator brought, policy by policy.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "imitation.h"
#include "penstock/domains/cage2/sim/npz.h"
#include "penstock/domains/cage2/sim/scripts.h"
#include "support.h"
#include "support/sanitized.h"

namespace penstock::cage2::returns_test {
namespace {

const std::string kData = PENSTOCK_TEST_DATA "/cage2/";
constexpr int kNumSteps = 100;
constexpr double kLevel = 0.01;

using Returns = std::vector<std::int64_t>;  // times ten
using Act = std::function<std::int64_t(ObsBits)>;

Returns recorded(const std::string& red, const std::string& policy) {
  const Npz npz = Npz::read(kData + "returns/" + red + "-" + policy + ".npz");
  const NpyArray& all = npz.at("ret10");  // [N, 3], after 30, 50 and 100 steps
  Returns returns;
  for (std::size_t i = 2; i < all.size(); i += 3) { returns.push_back(all[i]); }
  return returns;
}

std::int64_t play(Simulator& simulator, std::uint64_t seed, const Act& act) {
  std::int64_t total = 0;
  test::reset(simulator, seed);
  for (int t = 0; t < kNumSteps; ++t) {
    total -= simulator.advance(act(simulator.obs())).cost_tenths;
  }
  return total;
}

Returns play_script(const std::string& red, Script script, int num_episodes) {
  Simulator simulator = test::make(red);
  ScriptedBlue blue(script);
  Returns returns;
  for (int i = 0; i < num_episodes; ++i) {
    const auto seed = static_cast<std::uint64_t>(i);
    blue.reset(seed);
    returns.push_back(play(simulator, seed, [&](ObsBits obs) { return blue.act(obs); }));
  }
  return returns;
}

/// CardiffUni's networks: their wrapper, and their choices as they were recorded.
Returns play_cardiff(const std::string& red, int num_episodes) {
  const std::string name = red + "-cardiff-";
  test::Imitation blue({kData + name + "100.npz", kData + name + "50.npz", kData + name + "30.npz",
                        kData + "lb/" + name + "100.npz"});
  CHECK(blue.num_contradictions() == 0);
  Simulator::Config config;
  config.wrapper = "v2";
  Simulator simulator = test::make(red, config);
  Returns returns;
  for (int i = 0; i < num_episodes; ++i) {
    blue.reset();
    returns.push_back(
        play(simulator, static_cast<std::uint64_t>(i), [&](ObsBits obs) { return blue.act(obs); }));
  }
  MESSAGE(red << ": " << blue.num_situations() << " situations, " << 100 * blue.share_known()
              << " % of the actions from the same one");
  CHECK(blue.share_known() > 0.8);
  return returns;
}

/// The largest distance between the two empirical distributions.
double ks_distance(Returns a, Returns b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  const auto share_up_to = [](const Returns& all, std::int64_t x) {
    const auto end = std::upper_bound(all.begin(), all.end(), x);
    return static_cast<double>(end - all.begin()) / static_cast<double>(all.size());
  };
  double largest = 0;
  for (const Returns* all : {&a, &b}) {
    for (const std::int64_t x : *all) {
      largest = std::max(largest, std::abs(share_up_to(a, x) - share_up_to(b, x)));
    }
  }
  return largest;
}

/// Kolmogorov's limit of the chance that equal distributions lie this far apart.
double kolmogorov(double x) {
  if (x < 0.3) { return 1; }
  double sum = 0;
  for (int k = 100; k >= 1; --k) { sum += (k % 2 == 1 ? 2 : -2) * std::exp(-2.0 * k * k * x * x); }
  return std::min(sum, 1.0);
}

double ks_test(const Returns& a, const Returns& b) {
  const auto n = static_cast<double>(a.size());
  const auto m = static_cast<double>(b.size());
  return kolmogorov(std::sqrt(n * m / (n + m)) * ks_distance(a, b));
}

/// Whether Holm's method rejects any of the hypotheses: it does if and only if it rejects the
/// first.
bool holm_rejects_any(const std::vector<double>& p) {
  return *std::min_element(p.begin(), p.end()) * static_cast<double>(p.size()) < kLevel;
}

TEST_CASE("the test statistic is Kolmogorov's") {
  CHECK(kolmogorov(1.3581) == doctest::Approx(0.05).epsilon(0.001));
  CHECK(kolmogorov(1.6276) == doctest::Approx(0.01).epsilon(0.001));
  CHECK(ks_distance({1, 2, 3, 4}, {3, 4, 5, 6}) == 0.5);
  CHECK(holm_rejects_any({0.5, 0.0009, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5}));
  CHECK_FALSE(holm_rejects_any({0.5, 0.0011, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5}));
}

TEST_CASE("free-running returns are distributed as those of the real simulator" *
          doctest::skip(kSanitized)) {
  struct Policy {
    const char* recorded;
    Script script;
  };
  std::vector<double> p;
  const auto compare = [&](const std::string& red, const std::string& policy, const Returns& ours) {
    const Returns real = recorded(red, policy);
    p.push_back(ks_test(real, ours));
    MESSAGE(red << "-" << policy << ": D " << ks_distance(real, ours) << ", p " << p.back());
  };
  for (const char* red : {"bline", "meander"}) {
    for (const Policy& policy : {Policy{"sleep", Script::sleep},
                                 {"rand145", Script::random},
                                 {"react", Script::react},
                                 {"decoyfirst", Script::decoy_first}}) {
      compare(red, policy.recorded, play_script(red, policy.script, 5000));
    }
    compare(red, "cardiff", play_cardiff(red, 1000));
  }
  CHECK(p.size() == 10);
  CHECK_FALSE(holm_rejects_any(p));
}

TEST_CASE("other rules would be noticed") {
  Simulator::Config config;
  config.fix_restore_ot = true;
  Simulator simulator = test::make("bline", config);
  ScriptedBlue blue(Script::random);
  Returns returns;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    blue.reset(seed);
    returns.push_back(play(simulator, seed, [&](ObsBits obs) { return blue.act(obs); }));
  }
  CHECK(ks_test(recorded("bline", "rand145"), returns) < kLevel / 10);
}

}  // namespace
}  // namespace penstock::cage2::returns_test
