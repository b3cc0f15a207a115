#include "penstock/core/store/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "core/store/atomic_file.h"
#include "penstock/core/base/check.h"
#include "penstock/core/base/errors.h"

namespace penstock {
namespace {

constexpr std::uint64_t kMostBytes = 1'000'000'000;  // its lines stay in memory

std::string folder_of(const std::string& path) {
  const auto parent = std::filesystem::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

detail::Fd open_locked(const std::string& path) {
  try {
    detail::make_dir(folder_of(path));
    detail::Fd file(path, O_RDWR | O_CREAT | O_APPEND);
    if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) { return file; }
  } catch (const IoError& error) { throw IoError(error.what(), Exit::cannot_create); }
  if (errno != EWOULDBLOCK) { detail::throw_io("lock", path, errno); }
  throw IoError(
      fmt::format("{}: another process writes it; wait for it or choose another folder", path),
      Exit::cannot_create);
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

}  // namespace

struct Journal::File {
  detail::Fd fd;
};

Journal::Journal(const std::string& path, const std::string& header)
    : file_(std::make_unique<File>(File{open_locked(path)})) {
  const std::string text = detail::text_of(detail::read_file(path, kMostBytes));
  const std::size_t whole = text.rfind('\n') + 1;  // npos + 1 is 0
  if (whole < text.size() && ::ftruncate(file_->fd.get(), whole) < 0) {
    detail::throw_io("truncate", path, errno);
  }
  lines_ = split(text.substr(0, whole));
  if (lines_.empty()) {
    append(header);
    detail::sync_dir(folder_of(path));
    header_ = header;
    return;
  }
  header_ = lines_.front();
  lines_.erase(lines_.begin());
}

Journal::~Journal() = default;
Journal::Journal(Journal&& other) noexcept = default;
Journal& Journal::operator=(Journal&& other) noexcept = default;

void Journal::append(const std::string& line) {
  PENSTOCK_CHECK(line.find('\n'), ==, std::string::npos);
  detail::append(file_->fd, detail::bytes_of(line + '\n'));
  file_->fd.sync();
}

void replace_text(const std::string& path, const std::string& text) {
  try {
    detail::make_dir(folder_of(path));
    detail::replace_file(path, detail::bytes_of(text));
  } catch (const IoError& error) { throw IoError(error.what(), Exit::cannot_create); }
}

}  // namespace penstock
