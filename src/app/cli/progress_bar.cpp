#include "app/cli/progress_bar.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "penstock/core/base/note.h"
#include "penstock/core/base/text.h"

namespace penstock::cli {
namespace {

constexpr double kRedrawSeconds = 0.1;
constexpr double kLineSeconds = 5.0;  // between plain lines

int terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

bool utf8_locale() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0') {
      return std::strstr(value, "UTF-8") != nullptr || std::strstr(value, "utf8") != nullptr;
    }
  }
  return false;
}

std::string eta_text(const Progress& p) {
  return std::isnan(p.left_s) ? "?" : duration_text(p.left_s);
}

std::string reward_text(const Progress& p) {
  return std::isnan(p.ep_rew_mean) ? "" : fmt::format("  reward {:.1f}", p.ep_rew_mean);
}

std::string length_text(const Progress& p) {
  return std::isnan(p.ep_len_mean) ? ""
                                   : fmt::format("  length {:.4g} (means of 100)", p.ep_len_mean);
}

}  // namespace

std::string duration_text(double seconds) {
  const long s = std::llround(seconds);
  if (s < 60) { return fmt::format("{}s", s); }
  if (s < 3600) { return fmt::format("{}m{:02}s", s / 60, s % 60); }
  return fmt::format("{}h{:02}m", s / 3600, s / 60 % 60);
}

std::string count_text(double value) {
  // From here on three digits would round up to four.
  if (value < 999.5) { return fmt::format("{:.0f}", value); }
  if (value < 999.5e3) { return fmt::format("{:.3g}k", value / 1e3); }
  if (value < 999.5e6) { return fmt::format("{:.3g}M", value / 1e6); }
  return fmt::format("{:.3g}G", value / 1e9);
}

std::string bar_text(const Progress& p, int width, bool unicode) {
  const std::string left = fmt::format("{:3.0f}% ", 100 * p.done);
  const std::string right =
      fmt::format(" {}{}  {} steps/s{}  ETA {}", count_text(p.timesteps),
                  p.total_timesteps > 0 ? "/" + count_text(p.total_timesteps) : " steps",
                  count_text(p.fps), reward_text(p), eta_text(p));
  const int room = std::clamp(width - 1 - static_cast<int>(left.size() + right.size()), 0, 40);
  const int full = std::lround(p.done * room);
  std::string bar;
  for (int i = 0; i < room; ++i) {
    bar += i < full ? (unicode ? "█" : "#") : (unicode ? "░" : "-");
  }
  return left + bar + right;
}

ProgressBar::ProgressBar()
    : terminal_(isatty(STDERR_FILENO) == 1),
      colour_(terminal_ && std::getenv("NO_COLOR") == nullptr) {}

ProgressBar::~ProgressBar() { clear(); }

void ProgressBar::clear() {
  if (drawn_) { fmt::print(stderr, "\r\x1b[K"); }
  drawn_ = false;
}

void ProgressBar::show(const Progress& progress) {
  if (since_last_.seconds() < (terminal_ ? kRedrawSeconds : kLineSeconds)) { return; }
  since_last_ = Stopwatch();
  if (terminal_) {
    fmt::print(stderr, "\r{}{}{}\x1b[K", colour_ ? "\x1b[36m" : "",
               bar_text(progress, terminal_width(), utf8_locale()), colour_ ? "\x1b[0m" : "");
    std::fflush(stderr);
    drawn_ = true;
  } else {
    const std::string total =
        progress.total_timesteps > 0 ? fmt::format("/{}", progress.total_timesteps) : "";
    fmt::print(stderr, "step {}{} ({:.0f} %)  {} steps/s{}{}  episodes {}  ETA {}\n",
               progress.timesteps, total, 100 * progress.done, count_text(progress.fps),
               reward_text(progress), length_text(progress), progress.episodes, eta_text(progress));
  }
}

void ProgressBar::line(const std::string& text) {
  clear();
  fmt::print(stderr, "{}\n", printable(text));
  std::fflush(stderr);
  since_last_ = Stopwatch();  // it tells where the run stands
}

void ProgressBar::note(const std::string& text) {
  clear();
  print_note(text);
}

}  // namespace penstock::cli
