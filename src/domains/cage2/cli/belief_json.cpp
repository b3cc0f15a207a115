#include "domains/cage2/cli/belief_json.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "penstock/core/base/errors.h"

namespace penstock::cage2 {
namespace {

/// A probability for the eye.
double rounded(float p) { return std::round(p * 1e4) / 1e4; }

/// null, or nothing, where Blue is not told.
Flag success_of(const Json& step) {
  const auto found = step.find("success");
  if (found == step.end() || found->is_null()) { return Flag::unknown; }
  return found->get<bool>() ? Flag::yes : Flag::no;
}

ObsBits bits_of(const std::string& text) {
  if (text.size() != kObsSize || text.find_first_not_of("01") != std::string::npos) {
    throw DataError(
        fmt::format("observation: expected {} zeros and ones, as play --json has them", kObsSize));
  }
  ObsBits bits = 0;
  for (std::size_t i = 0; i < kObsSize; ++i) {
    if (text[i] == '1') { bits |= ObsBits{1} << i; }
  }
  return bits;
}

void note(BeliefFilter& filter, const Json& step) {
  const auto action = step.at("action").get<std::int64_t>();
  if (action < 0 || action >= static_cast<std::int64_t>(kNumActions)) {
    throw DataError(fmt::format("action: {} is not one of the {}", action, kNumActions));
  }
  filter.note(action, success_of(step), bits_of(step.at("observation").get<std::string>()));
}

}  // namespace

OrderedJson belief_json(const BeliefFilter& filter) {
  const RedBelief& belief = filter.belief();
  OrderedJson hosts = OrderedJson::object();
  for (std::uint8_t h = 0; h < kNumHosts; ++h) {
    if (belief.session[h] + belief.scanned[h] + belief.next[h] == 0) { continue; }
    hosts[std::string(host_name(h))] = {{"session", rounded(belief.session[h])},
                                        {"privileged", rounded(belief.privileged[h])},
                                        {"scanned", rounded(belief.scanned[h])},
                                        {"next", rounded(belief.next[h])}};
  }
  return {{"hosts", std::move(hosts)},
          {"red",
           {{"bline", rounded(belief.kind[0])},
            {"meander", rounded(belief.kind[1])},
            {"sleep", rounded(belief.kind[2])}}},
          {"service_down", rounded(belief.service_down)},
          {"hypotheses", filter.num_hypotheses()},
          {"exact", filter.exact()}};
}

std::string believe(BeliefFilter& filter, const std::string& line) {
  try {
    const Json step = parse_json(line);
    if (!step.is_object()) { throw DataError("expected an object: {} begins an episode"); }
    if (step.contains("action")) {
      note(filter, step);
    } else {
      filter.reset();
    }
  } catch (const Json::exception& error) { throw DataError(error.what()); }
  std::array<float, BeliefFilter::kSize> features{};
  filter.write(features);
  return to_text(OrderedJson{
      {"features", features}, {"lost", filter.lost()}, {"belief", belief_json(filter)}});
}

}  // namespace penstock::cage2
