#pragma once
#include <string>

#include "penstock/core/base/stopwatch.h"
#include "penstock/core/train/run_listener.h"

namespace penstock::cli {

/// How long, in words of at most three parts: "42s", "3m10s", "2h05m".
std::string duration_text(double seconds);
/// 1234567 as "1.23M".
std::string count_text(double value);
/// The bar's text without control characters, at most `width` columns.
std::string bar_text(const Progress& progress, int width, bool unicode);

/// Progress on stderr: a bar that redraws itself on a terminal, a plain line now and then
/// otherwise. NO_COLOR turns colours off.
class ProgressBar {
 public:
  ProgressBar();
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void show(const Progress& progress);
  /// A line above the bar, in the program's name.
  void note(const std::string& text);
  /// A line above the bar as it is, in place of the next plain one.
  void line(const std::string& text);

 private:
  void clear();

  bool terminal_;
  bool colour_;
  bool drawn_ = false;
  Stopwatch since_last_;
};

}  // namespace penstock::cli
