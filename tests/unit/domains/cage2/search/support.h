#pragma once
#include <doctest/doctest.h>

#include <Eigen/Eigenvalues>
#include <fstream>
#include <nlohmann/json.hpp>

#include "penstock/domains/cage2/search/acquisition.h"

namespace penstock::cage2::search::test {

/// tests/data/cage2/gp_golden.json, made with scikit-learn.
inline const nlohmann::json& golden() {
  static const nlohmann::json kGolden =
      nlohmann::json::parse(std::ifstream(PENSTOCK_TEST_DATA "/cage2/gp_golden.json"));
  return kGolden;
}

inline std::vector<Measurement> golden_data(double variance) {
  std::vector<Measurement> data;
  const auto& fixed = golden()["fixed"];
  for (std::size_t i = 0; i < fixed["y"].size(); ++i) {
    data.push_back({fixed["obs_index"][i], fixed["y"][i], variance});
  }
  return data;
}

template <class Kernel>
Eigen::VectorXd eigenvalues(Kernel kernel) {
  Eigen::MatrixXd matrix(kNumOrders, kNumOrders);
  for (int a = 0; a < kNumOrders; ++a) {
    for (int b = 0; b < kNumOrders; ++b) { matrix(a, b) = kernel(a, b); }
  }
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(matrix, Eigen::EigenvaluesOnly)
      .eigenvalues();
}

inline Eigen::VectorXd mallows_eigenvalues(double lambda) {
  const auto matrix = mallows_matrix(lambda);
  return eigenvalues([&](int a, int b) { return matrix[a * kNumOrders + b]; });
}

}  // namespace penstock::cage2::search::test
