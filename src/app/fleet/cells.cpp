#include "app/fleet/cells.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/random.h"
#include "penstock/core/base/text.h"

namespace penstock::fleet::detail {
namespace {

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(at, begin), text.size());
    parts.emplace_back(trimmed(std::string_view(text).substr(begin, end - begin)));
    begin = end + 1;
  }
  return parts;
}

[[noreturn]] void refuse(const Setting& setting, const std::string& wanted) {
  throw ConfigError(
      fmt::format("{} = {} ({}): expected {}", setting.path, setting.text, setting.origin, wanted));
}

/// A TOML list of numbers, or a text with | between its values, which may be words and lists.
std::vector<std::string> values_of(const Setting& setting) {
  const std::string& text = setting.text;
  const bool list = !setting.quoted && text.starts_with('[') && text.ends_with(']');
  std::vector<std::string> values =
      list ? split(text.substr(1, text.size() - 2), ',') : split(text, '|');
  for (const std::string& value : values) {
    if (value.empty()) { refuse(setting, "values, as [0.1, 0.2] or \"tanh | relu\""); }
  }
  return values;
}

/// "log(1e-4, 1e-2)".
struct Distribution {
  std::string kind;
  double low = 0;
  double high = 0;
};

double number_of(const Setting& setting, const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number)) {
    refuse(setting, fmt::format("a number where '{}' stands", text));
  }
  return number;
}

Distribution distribution_of(const Setting& setting) {
  const std::string& text = setting.text;
  const std::size_t open = text.find('(');
  const std::vector<std::string> ends =
      open == std::string::npos || !text.ends_with(')')
          ? std::vector<std::string>()
          : split(text.substr(open + 1, text.size() - open - 2), ',');
  const std::string kind(trimmed(std::string_view(text).substr(0, open)));
  const bool known = kind == "uniform" || kind == "log" || kind == "whole";
  if (!known || ends.size() != 2) {
    refuse(setting,
           "uniform(LOW, HIGH), log(LOW, HIGH), whole(LOW, HIGH) or values with | between them");
  }
  Distribution found{kind, number_of(setting, ends[0]), number_of(setting, ends[1])};
  if (!(found.low < found.high)) { refuse(setting, "LOW below HIGH"); }
  if (kind == "log" && found.low <= 0) { refuse(setting, "numbers above 0"); }
  return found;
}

/// With six digits, so that the last bits of libm do not tell machines apart.
std::string draw(const Setting& setting, Random random) {
  if (setting.text.find('|') != std::string::npos) {
    const std::vector<std::string> values = values_of(setting);
    return values[random.below(static_cast<std::uint32_t>(values.size()))];
  }
  const auto [kind, low, high] = distribution_of(setting);
  const double share = random.uniform();
  if (kind == "whole") {
    const double number =
        std::ceil(low) + std::floor(share * (std::floor(high) - std::ceil(low) + 1));
    return fmt::format("{}", static_cast<std::int64_t>(number));
  }
  if (kind == "log") {
    return fmt::format("{:.6g}",
                       std::exp(std::log(low) + share * (std::log(high) - std::log(low))));
  }
  return fmt::format("{:.6g}", low + share * (high - low));
}

std::vector<Cell> grid_cells(const std::vector<Setting>& grid) {
  std::vector<Cell> cells = {{}};
  for (const Setting& key : grid) {
    std::vector<Cell> more;
    for (const Cell& cell : cells) {
      for (const std::string& value : values_of(key)) {
        more.push_back(cell);
        more.back().emplace_back(key.path, value);
      }
    }
    cells = std::move(more);
  }
  return cells;
}

}  // namespace

std::vector<Cell> make_cells(const std::vector<Setting>& grid, const std::vector<Setting>& random,
                             std::int64_t draws, std::uint64_t draw_seed) {
  if (random.empty() != (draws == 0)) {
    throw ConfigError(random.empty() ? "draws: there is no section [random] to draw from"
                                     : "[random]: draws = N says how many settings are drawn");
  }
  if (draws == 0) { return grid_cells(grid); }
  std::vector<Cell> cells;
  for (const Cell& fixed : grid_cells(grid)) {
    for (std::int64_t n = 0; n < draws; ++n) {
      cells.push_back(fixed);
      for (std::size_t place = 0; place < random.size(); ++place) {
        const RandomKey key{.seed = draw_seed,
                            .owner = static_cast<std::uint32_t>(place),
                            .episode = static_cast<std::uint64_t>(n),
                            .stream = Stream::search};
        cells.back().emplace_back(random[place].path, draw(random[place], Random(key)));
      }
    }
  }
  return cells;
}

}  // namespace penstock::fleet::detail
