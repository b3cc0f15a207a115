#include "penstock/core/store/run_dir.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/store/atomic_file.h"
#include "penstock/core/base/check.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/json.h"
#include "penstock/core/store/event_file.h"

namespace penstock {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kMetrics = "metrics.jsonl";

bool holds_run(const std::string& path) {
  constexpr std::array kSigns{"manifest.json", "config.toml", kMetrics, "ckpt"};
  return std::any_of(kSigns.begin(), kSigns.end(), [&](const char* sign) {
    return detail::exists(fmt::format("{}/{}", path, sign));
  });
}

void require_run(const std::string& path) {
  if (!holds_run(path)) { throw DataError(fmt::format("{}: not a run directory", path)); }
}

void create_dir(const std::string& path) {
  try {
    detail::make_dir(path);
  } catch (const IoError& error) { throw IoError(error.what(), Exit::cannot_create); }
}

detail::Fd open_lock(const std::string& path) {
  try {
    return detail::Fd(path, O_RDWR | O_CREAT);
  } catch (const IoError& error) { throw IoError(error.what(), Exit::cannot_create); }
}

// The system drops the lock with the process, however it ends: there are no stale ones.
detail::Fd take_lock(const std::string& dir) {
  const std::string path = dir + "/.lock";
  detail::Fd lock = open_lock(path);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) { return lock; }
  if (errno != EWOULDBLOCK) { detail::throw_io("lock", path, errno); }
  throw IoError(
      fmt::format("{}: another process is running in it; wait for it or choose another run.dir",
                  dir),
      Exit::cannot_create);
}

// Lines torn by a kill have no closing brace, or two lines run into one: no JSON either way.
bool is_kept(const std::string& line, std::int64_t step) {
  const json object = try_parse_json(line);
  if (!object.is_object()) { return false; }
  const auto found = object.find("step");
  return found != object.end() && found->is_number_integer() && *found <= step;
}

std::string kept_lines(const std::string& text, std::int64_t step) {
  std::string kept;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) { break; }  // torn, even if what is there parses
    const std::string line = text.substr(begin, end - begin);
    if (is_kept(line, step)) { kept += line + '\n'; }
    begin = end + 1;
  }
  return kept;
}

std::string metrics_line(std::int64_t step, std::span<const Metric> metrics) {
  nlohmann::ordered_json line{{"step", step}};
  for (const auto& [name, value] : metrics) { line[name] = value; }  // NaN is printed as null
  return to_text(line) + '\n';
}

}  // namespace

// The two logs are opened by their first use, so that a start that fails early leaves no run
// behind.
struct RunDir::Files {
  detail::Fd lock;
  std::optional<detail::Fd> metrics;
  std::unique_ptr<EventFile> events;

  EventFile& event_file(const std::string& dir) {
    if (!events) { events = std::make_unique<EventFile>(dir); }
    return *events;
  }
};

RunDir::RunDir(std::string path, Open mode, std::size_t keep_last)
    : path_(std::move(path)), checkpoints_(path_ + "/ckpt", keep_last) {
  if (mode != Open::fresh) { require_run(path_); }
  if (mode == Open::read) { return; }
  if (mode == Open::fresh) { create_dir(path_); }
  files_ = std::make_unique<Files>(Files{.lock = take_lock(path_)});
  if (mode == Open::fresh && holds_run(path_)) {
    throw IoError(
        fmt::format("{}: already holds a run; continue it with resume or choose another run.dir",
                    path_),
        Exit::cannot_create);
  }
}

RunDir::~RunDir() = default;

void RunDir::write(const std::string& name, const std::string& text) {
  PENSTOCK_CHECK(files_ != nullptr, ==, true);
  const fs::path file = fs::path(path_) / name;
  detail::make_dir(file.parent_path().string());
  detail::replace_file(file.string(), detail::bytes_of(text));
}

std::string RunDir::read(const std::string& name) const {
  return detail::text_of(detail::read_file(fmt::format("{}/{}", path_, name)));
}

void RunDir::log(std::int64_t step, std::span<const Metric> metrics) {
  PENSTOCK_CHECK(files_ != nullptr, ==, true);
  if (!files_->metrics) {
    files_->metrics.emplace(fmt::format("{}/{}", path_, kMetrics), O_WRONLY | O_CREAT | O_APPEND);
  }
  detail::append(*files_->metrics, detail::bytes_of(metrics_line(step, metrics)));
  files_->event_file(path_).scalars(step, metrics);
}

void RunDir::rewind(std::int64_t step) {
  PENSTOCK_CHECK(files_ != nullptr, ==, true);
  files_->metrics.reset();  // it will be another file
  const std::string path = fmt::format("{}/{}", path_, kMetrics);
  if (detail::exists(path)) {
    const std::string kept = kept_lines(detail::text_of(detail::read_file(path)), step);
    detail::replace_file(path, detail::bytes_of(kept));
  }
  // TensorBoard forgets the step of the event too, and this one is to stay.
  files_->event_file(path_).restart_at(step + 1);
}

}  // namespace penstock
