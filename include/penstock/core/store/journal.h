#pragma once
#include <memory>
#include <string>
#include <vector>

namespace penstock {

/// A file of lines that only grows. A line is on the disk when append() returns, so that a process
/// killed at any instant loses at most the one it was writing. The first line says what the others
/// are about. Holds an exclusive lock until destruction. One thread at a time.
class Journal {
 public:
  /// Opens the file or makes it with this header (and its directory); a line that a kill cut short
  /// is dropped. IoError (exit 73) when another process has it open or it cannot be made.
  Journal(const std::string& path, const std::string& header);
  ~Journal();
  Journal(Journal&& other) noexcept;
  Journal& operator=(Journal&& other) noexcept;

  /// As found in the file: compare it with the one that was asked for.
  [[nodiscard]] const std::string& header() const { return header_; }
  /// What was there when it was opened, without the header.
  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }

  /// Without the newline, which no line may contain.
  void append(const std::string& line);

 private:
  struct File;

  std::unique_ptr<File> file_;
  std::string header_;
  std::vector<std::string> lines_;
};

/// Replaces a file whole, old contents or new at any instant. Makes the directory. IoError (exit
/// 73) when it cannot be written.
void replace_text(const std::string& path, const std::string& text);

}  // namespace penstock
