#pragma once
#include <string>
#include <utility>
#include <vector>

namespace penstock::detail {

/// A factor over the run, from a config's text: "constant", "linear" down to 0, "cosine" down to 0,
/// or points of the run with their factors, "0:0.1, 0.05:1, 1:0", straight lines between them.
class Schedule {
 public:
  /// Throws ConfigError, which names the key. During the share `warm_up` of the run the factor
  /// grows from a tenth of itself.
  Schedule(const std::string& text, const std::string& key, double warm_up = 0);
  /// Throws like the constructor.
  static void check(const std::string& text, const std::string& key) {
    [[maybe_unused]] const Schedule made(text, key);
  }
  /// `progress` of the run, 0 to 1; beyond, the end counts.
  [[nodiscard]] double operator()(double progress) const;

 private:
  [[nodiscard]] double on_lines(double progress) const;

  bool cosine_ = false;
  double warm_up_;
  std::vector<std::pair<double, double>> points_;  // place and factor, places rising
};

}  // namespace penstock::detail
