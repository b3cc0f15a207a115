#include <fmt/format.h>

#include <algorithm>

#include "domains/booking/compare/pictures.h"
#include "penstock/tools/page/page.h"

namespace penstock::booking::detail {
namespace {

using page::number;

/// What a policy's reward is a day above null's, with the paired interval.
struct Gain {
  std::string name;
  Interval reward;
};

std::vector<Gain> gains_of(const ReportInput& input) {
  std::vector<Gain> all;
  for (const PolicyScore& score : input.evaluation.policies) {
    if (score.name == "null") { continue; }
    all.push_back({score.name, line_of(input.evaluation, score).difference});
  }
  return all;
}

/// From rewards to percent of the chart's width, so that it fits any screen.
struct Percent {
  double low = 0;
  double high = 0;
  double operator()(double reward) const { return 100 * (reward - low) / (high - low); }
};

Percent scale_of(const std::vector<Gain>& gains) {
  Percent scale;
  for (const Gain& gain : gains) {
    scale.low = std::min(scale.low, gain.reward.low);
    scale.high = std::max(scale.high, gain.reward.high);
  }
  const double margin = 0.04 * (scale.high - scale.low) + 1e-6;
  return {scale.low - margin, scale.high + margin};
}

}  // namespace

std::string gain_chart(const ReportInput& input) {
  const std::vector<Gain> gains = gains_of(input);
  const Percent at = scale_of(gains);
  std::string html = "<div class=\"gains\">\n";
  for (const Gain& gain : gains) {
    const Interval& reward = gain.reward;
    html += fmt::format(
        "<div class=\"gain {}\"><span>{}</span><span class=\"line\"><em "
        "style=\"left:{:.2f}%\"></em>"
        "<i style=\"left:{:.2f}%;width:{:.2f}%\"></i><b style=\"left:{:.2f}%\"></b></span>"
        "<span>{} ({} to {})</span></div>\n",
        gain.name == input.shown ? "shown" : "other", page::escaped(gain.name), at(0),
        at(reward.low), at(reward.high) - at(reward.low), at(reward.mean), number(reward.mean),
        number(reward.low), number(reward.high));
  }
  return html + fmt::format(
                    "</div>\n<p class=\"axis-name\">reward above null, {} a day, 95 % interval of "
                    "the paired difference; the line is null</p>\n",
                    name_of(input.rules.unit));
}

}  // namespace penstock::booking::detail
