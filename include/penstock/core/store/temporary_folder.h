#pragma once
#include <string>

namespace penstock {

/// A new folder among the system's temporary files (TMPDIR), removed with all that is in it when
/// its owner goes.
class TemporaryFolder {
 public:
  /// Throws IoError when none can be made.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  /// The path of a file or folder in it, which need not exist.
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace penstock
