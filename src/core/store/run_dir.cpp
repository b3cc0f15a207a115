#include "penstock/core/store/run_dir.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

#include "core/store/atomic_file.h"
#include "penstock/core/base/check.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/json_value.h"
#include "penstock/core/base/text_file.h"
#include "penstock/core/store/event_file.h"

namespace penstock {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMetrics = "metrics.jsonl";

std::string lock_path(const std::string& dir) { return dir + "/.lock"; }

bool holds_run(const std::string& path) {
  constexpr std::array kSigns{"manifest.json", "config.toml", kMetrics, "ckpt"};
  return std::any_of(kSigns.begin(), kSigns.end(), [&](const char* sign) {
    return detail::exists(fmt::format("{}/{}", path, sign));
  });
}

void require_run(const std::string& path) {
  if (holds_run(path)) { return; }
  if (detail::exists(lock_path(path))) {
    throw DataError(path +
                    ": nothing to resume yet: the run ended before it wrote anything; start it "
                    "anew with the same penstock train");
  }
  throw DataError(path + ": not a run directory");
}

void refuse_used(const std::string& path) {
  throw IoError(
      fmt::format("{}: already holds a run; continue it with resume or choose another run.dir",
                  path),
      Exit::cannot_create);
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
  const std::string path = lock_path(dir);
  detail::Fd lock = open_lock(path);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) { return lock; }
  if (errno != EWOULDBLOCK) { detail::throw_io("lock", path, errno); }
  throw IoError(
      fmt::format("{}: another process is running in it; wait for it or choose another run.dir",
                  dir),
      Exit::cannot_create);
}

// Lines torn by a kill have no closing brace, or two lines run into one: no JSON either way.
bool is_kept(const std::string& line, std::int64_t step, const std::string& but) {
  const Json object = try_parse_json(line);
  if (!object.is_object()) { return false; }
  const auto found = object.find("step");
  if (found == object.end() || !found->is_number_integer()) { return false; }
  return *found < step || (*found == step && !object.contains(but));
}

/// Copies them line by line: a log of others may be of any size. A torn line is none, even if what
/// is there parses.
void copy_kept_lines(const std::string& path, detail::Fd& to, std::int64_t step,
                     const std::string& but) {
  std::ifstream from(path, std::ios::binary);
  constexpr std::size_t kBlock = 65536;
  LineReader lines(from);
  std::string kept;
  for (std::string line; lines.next(line);) {
    if (is_kept(line, step, but)) { kept += line + '\n'; }
    if (kept.size() > kBlock) { to.write(detail::bytes_of(std::exchange(kept, {}))); }
  }
  to.write(detail::bytes_of(kept));
  if (from.bad() || !from.is_open()) { throw IoError(path + ": reading failed"); }
}

std::string metrics_line(std::int64_t step, std::span<const Metric> metrics) {
  OrderedJson line{{"step", step}};
  for (const auto& [name, value] : metrics) { line[name] = value; }  // NaN is printed as null
  return to_text(line) + '\n';
}

/// What the disk has not taken yet, oldest first. Bounded: a disk may stay full for hours.
template <class Line>
class Backlog {
 public:
  void add(Line line) {
    lines_.push_back(std::move(line));
    if (lines_.size() <= kMostWaiting) { return; }
    lines_.pop_front();
    ++lost_;
  }
  /// Throws what `write` throws; that line and those behind it stay.
  template <class Write>
  void drain(const Write& write) {
    while (!lines_.empty()) {
      write(lines_.front());
      lines_.pop_front();
    }
  }
  [[nodiscard]] std::size_t waiting() const { return lines_.size(); }
  [[nodiscard]] std::size_t lost() const { return lost_; }

 private:
  static constexpr std::size_t kMostWaiting = 10'000;  // some 10 MB

  std::deque<Line> lines_;
  std::size_t lost_ = 0;
};

struct Scalars {
  std::int64_t step = 0;
  std::vector<Metric> metrics;
};

}  // namespace

// The two logs are opened by their first use, so that a start that fails early leaves no run
// behind.
struct RunDir::Files {
  detail::Fd lock;
  std::optional<detail::Fd> metrics = {};
  std::unique_ptr<EventFile> events = {};
  Backlog<std::string> lines = {};
  Backlog<Scalars> records = {};
  std::string log_error = {};

  void write_line(const std::string& dir, const std::string& line) {
    if (!metrics) {
      metrics.emplace(fmt::format("{}/{}", dir, kMetrics), O_WRONLY | O_CREAT | O_APPEND);
    }
    detail::append(*metrics, detail::bytes_of(line));
  }
  EventFile& event_file(const std::string& dir) {
    if (!events) { events = std::make_unique<EventFile>(dir); }
    return *events;
  }
};

RunDir::RunDir(std::string path, Open mode, std::size_t keep_last)
    : path_(std::move(path)), checkpoints_(path_ + "/ckpt", keep_last) {
  if (mode != Open::fresh) { require_run(path_); }
  if (mode == Open::read) { return; }
  if (mode == Open::fresh) {
    create_dir(path_);
    // A folder of somebody else's that happens to have a config.toml: not even a lock is left
    // there.
    if (holds_run(path_) && !detail::exists(lock_path(path_))) { refuse_used(path_); }
  }
  files_ = std::make_unique<Files>(Files{.lock = take_lock(path_)});
  for (const char* folder : {"ckpt", "replay", "dump"}) {
    detail::refuse_link(fmt::format("{}/{}", path_, folder));
  }
  if (mode == Open::fresh && holds_run(path_)) {
    begun_before_ = !checkpoints_.saved() && !detail::exists(fmt::format("{}/{}", path_, kMetrics));
    if (!begun_before_) { refuse_used(path_); }
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
  constexpr std::uint64_t kMost = 64'000'000;
  return detail::text_of(detail::read_file(fmt::format("{}/{}", path_, name), kMost));
}

void RunDir::write_tensors(const std::string& name, std::span<const TensorView> tensors) {
  PENSTOCK_CHECK(files_ != nullptr, ==, true);
  const fs::path file = fs::path(path_) / name;
  detail::make_dir(file.parent_path().string());
  save_safetensors(file.string(), tensors, {{"format", "pt"}});
}

void RunDir::log(std::int64_t step, std::span<const Metric> metrics) {
  PENSTOCK_CHECK(files_ != nullptr, ==, true);
  files_->lines.add(metrics_line(step, metrics));
  files_->records.add({step, {metrics.begin(), metrics.end()}});
  flush_log();
}

void RunDir::flush_log() {
  Files& files = *files_;
  files.log_error.clear();
  try {
    files.lines.drain([&](const std::string& line) { files.write_line(path_, line); });
  } catch (const IoError& error) {
    files.metrics.reset();  // a disk that was mounted again wants another descriptor
    files.log_error = error.what();
  }
  try {
    files.records.drain(
        [&](const Scalars& x) { files.event_file(path_).scalars(x.step, x.metrics); });
  } catch (const IoError& error) { files.log_error = error.what(); }
}

RunDir::LogState RunDir::log_state() const {
  return {.error = files_->log_error,
          .waiting = std::max(files_->lines.waiting(), files_->records.waiting()),
          .lost = std::max(files_->lines.lost(), files_->records.lost())};
}

void RunDir::rewind(std::int64_t step, const std::string& but) {
  PENSTOCK_CHECK(files_ != nullptr, ==, true);
  files_->metrics.reset();  // it will be another file
  const std::string path = fmt::format("{}/{}", path_, kMetrics);
  if (detail::exists(path)) {
    detail::file_size(path);  // refuses a pipe, which would be waited for
    detail::replace_file(path, [&](detail::Fd& to) { copy_kept_lines(path, to, step, but); });
  }
  // TensorBoard forgets the step of the event too, and this one is to stay.
  files_->event_file(path_).restart_at(step + 1);
}

}  // namespace penstock
