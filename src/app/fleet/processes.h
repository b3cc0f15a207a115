#pragma once
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace penstock::fleet::detail {

/// Starts a program on one core, with its output appended to a file. It is asked to end (SIGTERM)
/// when this process is gone, however that came. Throws IoError.
pid_t start(std::vector<std::string> words, int core, const std::string& log);

/// How a child of start() ended; nothing while it runs.
struct End {
  int exit = 0;    // its exit code
  int signal = 0;  // or what killed it
};
std::optional<End> end_of(pid_t child);

/// What a program prints, which is waited for.
struct Answer {
  int exit = 0;  // 127: it could not be started
  std::string text;
};
Answer ask(std::vector<std::string> words);

/// The cores that this process may use.
std::vector<int> own_cores();

/// Says that this process runs the fleet in a folder, as long as it lives. Throws IoError (exit 73)
/// when another one does.
class Claim {
 public:
  explicit Claim(const std::string& folder);
  ~Claim();
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;

  /// Who runs the fleet in this folder; nothing: nobody.
  static std::optional<pid_t> holder(const std::string& folder);

 private:
  int file_;
};

}  // namespace penstock::fleet::detail
