#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "penstock/domains/cage2/search/gaussian_process.h"

namespace penstock::cage2::search {

using Scores = std::array<double, kNumOrders>;
using Flags = std::array<bool, kNumOrders>;

/// beta_t = 2 log(n t^2 pi^2 / (6 delta)) for n orders, t = 1, 2, ...: with it the regret of GP-UCB
/// is bounded with probability 1 - delta (Srinivas et al., 2010).
double beta_at(int t, double delta, int num_orders = kNumOrders);

/// mean + sqrt(beta) * std.
Scores upper_bounds(const Posterior& posterior, double beta);

/// Indices by falling score; the lower index first among equals.
std::vector<int> ranked(const Scores& scores);

/// The value that a pick of the same batch is assumed to have until it is known.
enum class Liar { lowest, mean, highest };

/// How a batch is picked.
struct BatchOptions {
  int size = 1;     // orders
  double beta = 4;  // of the upper bounds; larger looks further afield
  Liar liar = Liar::mean;
};

/// The next orders to measure: repeatedly the largest upper bound among those not taken, with the
/// pick before it given an assumed value (a constant liar). Fewer than `size` when fewer are left.
/// Data must not be empty.
std::vector<int> pick_batch(std::span<const Measurement> data, const Hyper& hyper,
                            const BatchOptions& options, Flags taken);

/// `size` orders far from each other and from those taken, to begin with: each has the largest
/// distance to the nearest, chance decides among equals. The first is drawn when none is taken.
/// Barred ones are neither picked nor kept away from.
std::vector<int> pick_apart(int size, std::uint64_t seed, Flags taken, const Flags& barred = {});

/// `size` orders drawn without repetition among those not taken.
std::vector<int> pick_random(int size, std::uint64_t seed, const Flags& taken);

}  // namespace penstock::cage2::search
