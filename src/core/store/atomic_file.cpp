#include "core/store/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/text.h"

namespace penstock::detail {
namespace {

namespace fs = std::filesystem;

// The hook's word or the system's: 0 or an errno.
template <class Call>
int attempt(std::string_view name, const std::string& path, Call call) {
  if (fault_hook()) {
    if (const int error = fault_hook()(name, path)) { return error; }
  }
  while (call() < 0) {
    if (errno != EINTR) { return errno; }
  }
  return 0;
}

template <class Call>
void must(std::string_view name, const std::string& path, Call call) {
  if (const int error = attempt(name, path, call)) { throw_io(name, path, error); }
}

std::string parent_of(const std::string& path) {
  const fs::path parent = fs::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

std::uint64_t regular_size(int fd, const std::string& path) {
  struct stat info {};
  if (::fstat(fd, &info) < 0) { throw_io("stat", path, errno); }
  if (!S_ISREG(info.st_mode)) { throw IoError(path + ": is not a regular file"); }
  return info.st_size;
}

std::size_t checked_size(int fd, const std::string& path, std::uint64_t max_bytes) {
  const std::uint64_t size = regular_size(fd, path);
  if (size > max_bytes) {
    throw IoError(fmt::format("{}: {} bytes, at most {} are read", path, size, max_bytes));
  }
  // A sparse file claims any size for free; the memory for it would not be.
  const auto memory =
      static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
  if (size > memory) {
    throw IoError(fmt::format("{}: {} bytes are more than the machine's memory", path, size));
  }
  return size;
}

void write_anew(const std::string& path, const std::function<void(Fd&)>& write) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) == 0) { remove_path(path); }  // of a save that was cut short
  Fd file(path, O_WRONLY | O_CREAT | O_EXCL);
  write(file);
  file.sync();
}

}  // namespace

FaultHook& fault_hook() {
  static FaultHook hook;
  return hook;
}

void throw_io(std::string_view action, const std::string& path, int error) {
  if (error == ELOOP) { throw IoError(path + ": is a symbolic link, which is not followed"); }
  throw IoError(fmt::format("{}: cannot {}: {}", path, action, system_text(error)));
}

Bytes bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Fd::Fd(const std::string& path, int flags) : path_(path) {
  constexpr mode_t kMode = 0666;  // the umask decides
  const int own = (flags & O_CREAT) != 0 ? O_CLOEXEC | O_NOFOLLOW : O_CLOEXEC;
  const auto call = [&] { return fd_ = ::open(path.c_str(), flags | own, kMode); };
  if ((flags & O_CREAT) != 0) {
    must("create", path, call);
  } else if (call() < 0) {
    throw_io("open", path, errno);
  }
}

Fd::~Fd() {
  if (fd_ >= 0) { ::close(fd_); }
}

Fd::Fd(Fd&& other) noexcept : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}

Fd& Fd::operator=(Fd&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  return *this;
}

void Fd::write(Bytes bytes) {
  while (!bytes.empty()) {
    ssize_t written = 0;
    must("write", path_, [&] { return written = ::write(fd_, bytes.data(), bytes.size()); });
    bytes = bytes.subspan(written);
  }
}

void Fd::sync() {
  must("fsync", path_, [&] { return ::fsync(fd_); });
}

void append(Fd& file, Bytes bytes) {
  const off_t end = ::lseek(file.get(), 0, SEEK_END);
  try {
    file.write(bytes);
  } catch (const IoError&) {
    // When this fails too, a torn line stays; rewind() drops it.
    if (end >= 0 && ::ftruncate(file.get(), end) < 0) { throw; }
    throw;
  }
}

void write_file(const std::string& path, std::span<const Bytes> parts) {
  write_anew(path, [&](Fd& file) {
    for (const Bytes part : parts) { file.write(part); }
  });
}

void replace_file(const std::string& path, Bytes bytes) {
  replace_file(path, [&](Fd& file) { file.write(bytes); });
}

void replace_file(const std::string& path, const std::function<void(Fd&)>& write) {
  const std::string parent = parent_of(path);
  const std::string temporary = parent + "/.tmp-" + fs::path(path).filename().string();
  write_anew(temporary, write);
  rename_path(temporary, path);
  sync_dir(parent);
}

void rename_path(const std::string& from, const std::string& to) {
  must("rename", to, [&] { return ::rename(from.c_str(), to.c_str()); });
}

bool exchange_paths(const std::string& a, const std::string& b) {
  const int error = attempt("exchange", b, [&] {
    return ::syscall(SYS_renameat2, AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE);
  });
  if (error == EINVAL || error == ENOSYS || error == ENOTSUP) { return false; }
  if (error != 0) { throw_io("exchange", b, error); }
  return true;
}

void sync_dir(const std::string& path) {
  const Fd dir(path, O_RDONLY | O_DIRECTORY);
  const int error = attempt("fsync", path, [&] { return ::fsync(dir.get()); });
  // Some network file systems keep names durable by themselves and refuse the call.
  if (error != 0 && error != EINVAL) { throw_io("fsync", path, error); }
}

void make_dir(const std::string& path) {
  if (exists(path)) { return; }
  must("mkdir", path, [&] {
    std::error_code error;
    fs::create_directories(path, error);
    errno = error.value();
    return error ? -1 : 0;
  });
  sync_dir(parent_of(path));
}

void remove_path(const std::string& path) {
  must("remove", path, [&] {
    std::error_code error;
    fs::remove_all(path, error);
    errno = error.value();
    return error ? -1 : 0;
  });
}

void refuse_link(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode)) {
    throw IoError(path +
                  ": is a symbolic link, which is not followed; put the folder itself there");
  }
}

bool exists(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0) { return true; }
  if (errno != ENOENT && errno != ENOTDIR) { throw_io("stat", path, errno); }
  return false;
}

std::vector<std::string> names_in(const std::string& path) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    names.push_back(it->path().filename().string());
  }
  if (error) { throw_io("list", path, error.value()); }
  return names;
}

std::uint64_t file_size(const std::string& path) {
  return regular_size(Fd(path, O_RDONLY | O_NONBLOCK).get(), path);
}

std::vector<std::byte> read_file(const std::string& path, std::uint64_t max_bytes) {
  const Fd file(path, O_RDONLY | O_NONBLOCK);  // a pipe in a file's place must not block
  std::vector<std::byte> bytes(checked_size(file.get(), path, max_bytes));
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = ::read(file.get(), bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR) { continue; }
    if (got < 0) { throw_io("read", path, errno); }
    if (got == 0) { bytes.resize(done); }  // it shrank meanwhile: the caller's checks will tell
    done += got;
  }
  return bytes;
}

}  // namespace penstock::detail
