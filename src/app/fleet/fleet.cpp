#include "penstock/app/fleet/fleet.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "app/fleet/cells.h"
#include "penstock/core/base/json_value.h"
#include "penstock/core/train/config.h"

namespace penstock::fleet {
namespace {

namespace fs = std::filesystem;

/// What stands under a section, by the keys without it.
std::vector<Setting> section_of(const Settings& all, const std::string& prefix) {
  std::vector<Setting> found;
  for (Setting setting : all.all()) {
    if (!setting.path.starts_with(prefix)) { continue; }
    setting.path = setting.path.substr(prefix.size());
    found.push_back(std::move(setting));
  }
  return found;
}

Config config_of(const Settings& all) {
  Settings own;
  for (const Setting& setting : all.all()) {
    const bool of_runs = setting.path.starts_with("set.") || setting.path.starts_with("grid.") ||
                         setting.path.starts_with("random.");
    if (!of_runs) { own.append(setting); }
  }
  Config config;
  std::vector<Field> fields = fields_of(config);
  penstock::apply(fields, own);
  return config;
}

void check_lists(const Config& config) {
  std::vector<std::int64_t> seeds = config.seeds;
  std::ranges::sort(seeds);
  const bool twice = std::ranges::adjacent_find(seeds) != seeds.end();
  if (seeds.empty() || twice) { throw ConfigError("seeds: expected at least one, each once"); }
  if (std::ranges::adjacent_find(config.rungs, std::greater_equal()) != config.rungs.end()) {
    throw ConfigError("rungs: expected growing numbers of steps");
  }
  if (!config.recipe.empty() && !config.config.empty()) {
    throw ConfigError("recipe and config: a fleet begins with one of them");
  }
}

/// Keys that the fleet itself decides.
void refuse_own_keys(const std::vector<Setting>& settings) {
  for (const Setting& setting : settings) {
    if (setting.path == "seed" || setting.path == "run.dir") {
      throw ConfigError(fmt::format("{} ({}): {}", setting.path, setting.origin,
                                    setting.path == "seed" ? "a fleet has seeds = [1, 2, 3]"
                                                           : "a fleet gives each trial its own"));
    }
  }
}

}  // namespace

std::string label_of(const Cell& cell) {
  if (cell.empty()) { return "-"; }
  std::vector<std::string> words;
  words.reserve(cell.size());
  for (const auto& [path, value] : cell) { words.push_back(fmt::format("{}={}", path, value)); }
  return fmt::format("{}", fmt::join(words, " "));
}

Fleet::Fleet(const std::string& file,
             const std::function<std::string(const std::string&)>& recipe_path)
    : file_(fs::absolute(file)) {
  Settings all;
  all.add_toml_file(file);
  config_ = config_of(all);
  check_lists(config_);
  if (!config_.recipe.empty()) { base_.add_toml_file(recipe_path(config_.recipe)); }
  if (!config_.config.empty()) {
    base_.add_toml_file(fs::path(file_).parent_path() / config_.config);
  }
  const std::vector<Setting> set = section_of(all, "set.");
  const std::vector<Setting> grid = section_of(all, "grid.");
  const std::vector<Setting> random = section_of(all, "random.");
  for (const std::vector<Setting>& given : {set, grid, random}) { refuse_own_keys(given); }
  for (const Setting& setting : set) { base_.append(setting); }
  cells_ = detail::make_cells(grid, random, config_.draws, config_.draw_seed);
}

Settings Fleet::settings_of(std::size_t trial) const {
  Settings settings = base_;
  const std::string origin = fs::path(file_).filename();
  for (const auto& [path, value] : cells_[cell_of(trial)]) { settings.add(path, value, origin); }
  settings.add("seed", fmt::format("{}", seed_of(trial)), origin);
  // A trial has one core; threads never change results.
  if (settings.find("threads") == nullptr) { settings.add("threads", "1", "fleet"); }
  return settings;
}

std::string Fleet::identity() const {
  OrderedJson base = OrderedJson::object();
  for (const Setting& setting : base_.all()) { base[setting.path] = setting.text; }
  OrderedJson cells = OrderedJson::array();
  for (const Cell& cell : cells_) { cells.push_back(label_of(cell)); }
  return to_text(OrderedJson{{"ledger", "penstock fleet"},
                             {"format", 1},
                             {"base", base},
                             {"seeds", config_.seeds},
                             {"rungs", config_.rungs},
                             {"keep", config_.keep},
                             {"cells", cells}});
}

void Fleet::check(const Catalog& catalog) const {
  for (std::size_t cell = 0; cell < cells_.size(); ++cell) {
    try {
      const RunPlan plan(settings_of(cell * config_.seeds.size()), catalog);
    } catch (const ConfigError& error) {
      throw ConfigError(fmt::format("{}: {}: {}", fs::path(file_).filename().string(),
                                    label_of(cells_[cell]), error.what()));
    }
  }
}

}  // namespace penstock::fleet
