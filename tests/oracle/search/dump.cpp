// Answers tests/oracle/search/test_search.py: one JSON question on stdin, one answer on stdout.
#include <iostream>
#include <nlohmann/json.hpp>

#include "penstock/core/base/errors.h"
#include "penstock/domains/cage2/search/acquisition.h"

namespace {

using nlohmann::json;
using namespace penstock::cage2::search;

std::vector<Measurement> data_of(const json& question) {
  std::vector<Measurement> data;
  for (std::size_t i = 0; i < question["order"].size(); ++i) {
    data.push_back({question["order"][i], question["value"][i], question["variance"][i]});
  }
  return data;
}

Bounds range_of(const json& pair) { return {pair[0], pair[1]}; }

json answer(const json& question) {
  const auto data = data_of(question);
  Hyper hyper;
  if (question.contains("bounds")) {
    const json& bounds = question["bounds"];
    hyper = fit_hyper(data, {.lambda = range_of(bounds["lambda"]),
                             .signal_variance = range_of(bounds["signal_variance"]),
                             .noise_variance = range_of(bounds["noise_variance"])});
  } else {
    hyper = {question["lambda"], question["signal_variance"], question["noise_variance"]};
  }
  const Posterior found = posterior(data, hyper);
  return {{"lambda", hyper.lambda},
          {"signal_variance", hyper.signal_variance},
          {"noise_variance", hyper.noise_variance},
          {"log_marginal", log_marginal(data, hyper)},
          {"mean", found.mean},
          {"std", found.std},
          {"ranking", ranked(upper_bounds(found, question.value("beta", 4.0)))}};
}

}  // namespace

int main() {
  try {
    std::cout << answer(json::parse(std::cin)).dump() << '\n';
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
