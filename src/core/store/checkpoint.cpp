#include "penstock/core/store/checkpoint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "core/store/atomic_file.h"
#include "core/store/checkpoint_files.h"
#include "core/store/manifest.h"
#include "penstock/core/base/check.h"

namespace penstock {
namespace {

constexpr const char* kTemporary = ".tmp-";  // what a killed save leaves; removed by the next

constexpr std::uint64_t kMaxPointer = 64;  // bytes of a step's digits, and to spare

std::string path_of(const std::string& dir, std::int64_t step) {
  return fmt::format("{}/{}", dir, step);
}

std::optional<std::int64_t> parse_step(std::string_view text) {
  std::int64_t step = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), step);
  // "007" would be a second name of 7.
  const bool canonical = error == std::errc{} && step >= 0 && fmt::format("{}", step) == text;
  return canonical ? std::optional(step) : std::nullopt;
}

// The step that LATEST or BEST names; none when it is missing or garbled.
std::optional<std::int64_t> read_pointer(const std::string& path) {
  if (!detail::exists(path)) { return std::nullopt; }
  std::string text = detail::text_of(detail::read_file(path, kMaxPointer));
  if (!text.ends_with('\n')) { return std::nullopt; }
  text.pop_back();
  return parse_step(text);
}

void write_pointer(const std::string& path, std::int64_t step) {
  detail::replace_file(path, detail::bytes_of(fmt::format("{}\n", step)));
}

// A name that no reader looks at, so that a half-removed checkpoint is never taken for a damaged
// one.
void retire(const std::string& dir, std::int64_t step) {
  const std::string away = fmt::format("{}/{}old-{}", dir, kTemporary, step);
  detail::rename_path(path_of(dir, step), away);
  detail::remove_path(away);
}

void install(const std::string& dir, const std::string& temporary, std::int64_t step) {
  const std::string place = path_of(dir, step);
  if (!detail::exists(place)) { return detail::rename_path(temporary, place); }
  if (!detail::exchange_paths(temporary, place)) {
    // Without an exchange there is a moment with neither, and LATEST must not name it.
    const std::string latest = dir + "/LATEST";
    if (read_pointer(latest) == step) {
      detail::remove_path(latest);
      detail::sync_dir(dir);
    }
    const std::string away = fmt::format("{}/{}old-{}", dir, kTemporary, step);
    detail::rename_path(place, away);
    detail::rename_path(temporary, place);
  }
}

void remove_leftovers(const std::string& dir) {
  for (const std::string& name : detail::names_in(dir)) {
    if (name.starts_with(kTemporary)) { detail::remove_path(fmt::format("{}/{}", dir, name)); }
  }
}

}  // namespace

CheckpointStore::CheckpointStore(std::string dir, std::size_t keep_last)
    : dir_(std::move(dir)), keep_last_(std::max<std::size_t>(keep_last, 1)) {}

void CheckpointStore::save(std::int64_t step, const CheckpointData& data, bool best) {
  PENSTOCK_CHECK(step, >=, 0);
  detail::make_dir(dir_);
  remove_leftovers(dir_);
  const std::string temporary = fmt::format("{}/{}{}", dir_, kTemporary, step);
  try {
    detail::write_checkpoint(temporary, step, data);
  } catch (const IoError&) {
    std::error_code ignored;
    std::filesystem::remove_all(temporary, ignored);  // on a full disk its space is wanted now
    throw;
  }
  install(dir_, temporary, step);
  detail::sync_dir(dir_);
  // LATEST last: a crash before it resumes earlier and comes to this save again.
  if (best) { write_pointer(dir_ + "/BEST", step); }
  write_pointer(dir_ + "/LATEST", step);
  prune(step);
}

bool CheckpointStore::saved() const {
  const std::vector<std::int64_t> all = steps();
  const bool first_begun = all == std::vector<std::int64_t>{0} && !detail::exists(dir_ + "/LATEST");
  return !all.empty() && !first_begun;
}

void CheckpointStore::prune(std::int64_t saved) const {
  remove_leftovers(dir_);
  const std::optional<std::int64_t> kept = best();
  const std::vector<std::int64_t> all = steps();
  const auto later = std::upper_bound(all.begin(), all.end(), saved);
  const std::size_t num_earlier = later - all.begin();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool recent = i < num_earlier && num_earlier - i <= keep_last_;
    if (!recent && all[i] != kept) { retire(dir_, all[i]); }
  }
}

Checkpoint CheckpointStore::load_latest(const std::function<void(const std::string&)>& warn,
                                        CheckpointPart part) const {
  std::vector<std::string> complaints;
  for (const std::int64_t step : candidates(complaints)) {
    try {
      Checkpoint checkpoint = load(step, part);
      for (const std::string& complaint : complaints) {
        warn(fmt::format("{}; using {} instead", complaint, path_of(dir_, step)));
      }
      return checkpoint;
    } catch (const detail::NewerSchemaError&) { throw; } catch (const DataError& damage) {
      complaints.emplace_back(damage.what());
    } catch (const IoError& unreadable) {  // a disk that fails is no better than one that lies
      complaints.emplace_back(unreadable.what());
    }
  }
  if (steps().empty()) {
    throw DataError(dir_ +
                    ": no checkpoint yet: the run ended before its first one; start it anew with "
                    "the same penstock train");
  }
  throw DataError(fmt::format("{}: no checkpoint is whole: {}", dir_, fmt::join(complaints, "; ")));
}

std::vector<std::int64_t> CheckpointStore::candidates(std::vector<std::string>& complaints) const {
  std::vector<std::int64_t> order = steps();
  std::reverse(order.begin(), order.end());
  const std::string path = dir_ + "/LATEST";
  std::optional<std::int64_t> latest;
  try {
    latest = read_pointer(path);
  } catch (const IoError& unreadable) {
    complaints.emplace_back(unreadable.what());
    return order;
  }
  if (!latest) {
    complaints.push_back(path + (detail::exists(path) ? ": is garbled" : ": is missing"));
    return order;
  }
  if (!order.empty() && order.front() > *latest) {
    complaints.push_back(
        fmt::format("{}: names {} although {} is there", path, *latest, order.front()));
  }
  std::erase(order, *latest);
  order.insert(order.begin(), *latest);
  return order;
}

Checkpoint CheckpointStore::load(std::int64_t step, CheckpointPart part) const {
  const std::string dir = path_of(dir_, step);
  if (!detail::exists(dir)) {
    throw DataError(
        fmt::format("{}: no such checkpoint; found: {}", dir, fmt::join(steps(), ", ")));
  }
  return detail::read_checkpoint(dir, step, part);
}

std::optional<std::int64_t> CheckpointStore::best() const {
  const std::optional<std::int64_t> step = read_pointer(dir_ + "/BEST");
  return step && detail::exists(path_of(dir_, *step)) ? step : std::nullopt;
}

std::vector<std::int64_t> CheckpointStore::steps() const {
  std::vector<std::int64_t> found;
  if (!detail::exists(dir_)) { return found; }
  for (const std::string& name : detail::names_in(dir_)) {
    if (const auto step = parse_step(name)) { found.push_back(*step); }
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace penstock
