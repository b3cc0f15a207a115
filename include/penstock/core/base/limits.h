#pragma once
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>

namespace penstock {

/// What a limit leaves of something.
struct Room {
  std::int64_t left = std::numeric_limits<std::int64_t>::max();
  std::string limit = {};   // who sets it: "`ulimit -v`"; empty: the machine itself, or nobody
  std::string remedy = {};  // "`ulimit -v unlimited`"; empty: none
};

/// What this process may still take: by the machine, by its resource limits (ulimit), and by its
/// control group and those above it, of both versions. Of several limits, the one that leaves the
/// least. What cannot be read limits nothing.
///
/// Looked up anew by every call, in the files by which the kernel tells it.
class Limits {
 public:
  /// `root` holds proc and sys; tests bring their own.
  explicit Limits(std::filesystem::path root = "/") : root_(std::move(root)) {}

  /// In bytes. What the system keeps of files counts as free: it gives it up when asked.
  [[nodiscard]] Room memory() const;
  /// Descriptors.
  [[nodiscard]] Room open_files() const;
  /// Processes and threads together, as the kernel counts them.
  [[nodiscard]] Room processes() const;
  /// Cores that the quota of CPU time allows, in parts of cores; infinite without one.
  [[nodiscard]] double cores() const;

 private:
  std::filesystem::path root_;
};

}  // namespace penstock
