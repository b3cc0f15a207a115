#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <utility>

#include "domains/cage2/search/regression.h"
#include "penstock/core/base/errors.h"

// The search runs over the logarithms of {signal_variance, lambda, noise_variance}.
namespace penstock::cage2::search {
namespace {

using detail::Regression;
using detail::Slope;
using Point = Eigen::Vector3d;

constexpr double kNoNoise = -1e9;  // log 0, near enough

struct Box {
  Point low;
  Point high;

  [[nodiscard]] Point clip(const Point& p) const { return p.cwiseMax(low).cwiseMin(high); }
};

struct Try {
  Point at;
  double value;
};

Hyper hyper_at(const Point& p) {
  return {.lambda = std::exp(p[1]),
          .signal_variance = std::exp(p[0]),
          .noise_variance = std::exp(p[2])};
}

void check(const char* name, const Bounds& range) {
  const bool off = range.low == 0 && range.high == 0 && name == std::string_view("noise_variance");
  if (off || (range.low > 0 && range.low <= range.high && std::isfinite(range.high))) { return; }
  throw ConfigError(fmt::format("bounds of {}: {} to {}, but 0 < low <= high must hold", name,
                                range.low, range.high));
}

Box box_of(const HyperBounds& bounds) {
  check("lambda", bounds.lambda);
  check("signal_variance", bounds.signal_variance);
  check("noise_variance", bounds.noise_variance);
  const auto log_of = [](double x) { return x > 0 ? std::log(x) : kNoNoise; };
  return {{log_of(bounds.signal_variance.low), log_of(bounds.lambda.low),
           log_of(bounds.noise_variance.low)},
          {log_of(bounds.signal_variance.high), log_of(bounds.lambda.high),
           log_of(bounds.noise_variance.high)}};
}

class Likelihood {
 public:
  explicit Likelihood(std::span<const Measurement> data) : data_(data), centre_(centre_of(data)) {}
  [[nodiscard]] Regression regression(const Point& p) const {
    return {data_, hyper_at(p), centre_};
  }
  [[nodiscard]] Try at(const Point& p) const { return {p, regression(p).log_marginal()}; }
  [[nodiscard]] Slope slope(const Point& p) const { return slope_of(regression(p), hyper_at(p)); }

 private:
  std::span<const Measurement> data_;
  double centre_;
};

// The best points of a grid, best first.
std::vector<Try> starts(const Likelihood& likelihood, const Box& box) {
  constexpr int kPoints = 7;
  constexpr std::size_t kStarts = 4;
  std::vector<Try> grid;
  const auto points = [&](int axis) { return box.low[axis] < box.high[axis] ? kPoints : 1; };
  const auto place = [&](int axis, int i) {
    const double share = (i + 0.5) / points(axis);
    return box.low[axis] + share * (box.high[axis] - box.low[axis]);
  };
  for (int i = 0; i < points(0); ++i) {
    for (int j = 0; j < points(1); ++j) {
      for (int k = 0; k < points(2); ++k) {
        grid.push_back(likelihood.at({place(0, i), place(1, j), place(2, k)}));
      }
    }
  }
  const auto better = [](const Try& a, const Try& b) { return a.value > b.value; };
  std::stable_sort(grid.begin(), grid.end(), better);
  grid.resize(std::min(grid.size(), kStarts));
  return grid;
}

// What may still move: not fixed, and not pushed against its bound.
std::vector<int> free_axes(const Box& box, const Point& at, const Point& gradient) {
  std::vector<int> axes;
  for (int i = 0; i < 3; ++i) {
    const bool held = (at[i] <= box.low[i] && gradient[i] <= 0) ||
                      (at[i] >= box.high[i] && gradient[i] >= 0) || box.low[i] == box.high[i];
    if (!held) { axes.push_back(i); }
  }
  return axes;
}

// Newton's step uphill along the free axes, at most e in each: the curvature is raised until it
// bends down in every direction.
Point uphill(const Slope& slope, const std::vector<int>& axes) {
  const Eigen::Index n = axes.size();
  Eigen::MatrixXd bend(n, n);
  Eigen::VectorXd rise(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    rise[i] = slope.gradient[axes[i]];
    for (Eigen::Index j = 0; j < n; ++j) { bend(i, j) = -slope.hessian(axes[i], axes[j]); }
  }
  Eigen::LLT<Eigen::MatrixXd> factor(bend);
  for (double raise = 1e-6; factor.info() != Eigen::Success; raise *= 10) {
    factor.compute(bend + raise * Eigen::MatrixXd::Identity(n, n));
  }
  const Eigen::VectorXd step = factor.solve(rise);
  const double scale = std::min(1.0, 1.0 / step.cwiseAbs().maxCoeff());
  Point full = Point::Zero();
  for (Eigen::Index i = 0; i < n; ++i) { full[axes[i]] = scale * step[i]; }
  return full;
}

Try climb(const Likelihood& likelihood, const Box& box, Try best) {
  constexpr int kMaxSteps = 200;
  constexpr double kFlat = 1e-12;
  constexpr double kRounding =
      1e-12;  // near the top a step gains less than the value's last digits
  for (int i = 0; i < kMaxSteps; ++i) {
    const Slope slope = likelihood.slope(best.at);
    const std::vector<int> axes = free_axes(box, best.at, slope.gradient);
    if (axes.empty()) { break; }
    Point step = uphill(slope, axes);
    if (step.cwiseAbs().maxCoeff() < kFlat) { break; }
    Try next = likelihood.at(box.clip(best.at + step));
    const double floor = best.value - kRounding * (1 + std::abs(best.value));
    while (next.value < floor && step.cwiseAbs().maxCoeff() > kFlat) {
      step /= 2;
      next = likelihood.at(box.clip(best.at + step));
    }
    if (next.value < floor || next.at == best.at) { break; }
    best = next;
  }
  return best;
}

}  // namespace

Hyper fit_hyper(std::span<const Measurement> data, const HyperBounds& bounds) {
  if (data.empty()) { throw ConfigError("hyperparameters cannot be fitted to no observations"); }
  const Box box = box_of(bounds);
  const Likelihood likelihood(data);
  std::vector<Try> tops;
  for (const Try& start : starts(likelihood, box)) {
    tops.push_back(climb(likelihood, box, start));
  }
  const auto lower = [](const Try& a, const Try& b) { return a.value < b.value; };
  return hyper_at(std::max_element(tops.begin(), tops.end(), lower)->at);
}

}  // namespace penstock::cage2::search
