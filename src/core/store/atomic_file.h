#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::detail {

using Bytes = std::span<const std::byte>;

/// The operating system is injected so that faults can be tested: the hook is called before every
/// system call that changes the disk, and the errno it returns (0: go on) is the call's result.
/// Empty outside tests; set it while nothing else writes.
using FaultHook = std::function<int(std::string_view call, const std::string& path)>;
FaultHook& fault_hook();

/// "<path>: cannot <action>: <system_text>".
[[noreturn]] void throw_io(std::string_view action, const std::string& path, int error);

Bytes bytes_of(std::string_view text);
std::string text_of(Bytes bytes);

/// An open file descriptor; closes itself.
class Fd {
 public:
  /// Throws IoError, also for the last part of a path that is a symbolic link, where O_CREAT is
  /// set.
  Fd(const std::string& path, int flags);
  ~Fd();
  Fd(Fd&& other) noexcept;
  Fd& operator=(Fd&& other) noexcept;

  [[nodiscard]] int get() const { return fd_; }
  void write(Bytes bytes);
  void sync();

 private:
  std::string path_;
  int fd_ = -1;
};

/// Appends all or nothing: what a full disk cut short is taken back.
void append(Fd& file, Bytes bytes);

/// Creates it anew, writes the parts one after the other and syncs. Not atomic by itself. What had
/// the name goes first: a link is not followed.
void write_file(const std::string& path, std::span<const Bytes> parts);
/// Old contents or new, at any instant: temporary, fsync, rename, fsync of the directory.
void replace_file(const std::string& path, Bytes bytes);
/// The same with what `write` writes.
void replace_file(const std::string& path, const std::function<void(Fd&)>& write);

void rename_path(const std::string& from, const std::string& to);
/// Swaps two paths in one step; false when the file system cannot.
bool exchange_paths(const std::string& a, const std::string& b);
/// Makes the names inside a directory durable.
void sync_dir(const std::string& path);
/// With parents; there already is fine.
void make_dir(const std::string& path);
/// With everything below; not there is fine.
void remove_path(const std::string& path);

/// False only when it is not there; any other trouble is an IoError.
bool exists(const std::string& path);
/// Names in a directory, in any order.
std::vector<std::string> names_in(const std::string& path);
/// Bytes of a regular file; anything else is an IoError.
std::uint64_t file_size(const std::string& path);
/// Of a regular file of at most so many bytes that fits into memory; anything else is an IoError.
std::vector<std::byte> read_file(
    const std::string& path, std::uint64_t max_bytes = std::numeric_limits<std::uint64_t>::max());
/// Refuses a folder that is a symbolic link: a directory from elsewhere could name any place of the
/// user's to write to.
void refuse_link(const std::string& path);

}  // namespace penstock::detail
