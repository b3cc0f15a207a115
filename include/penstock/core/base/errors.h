#pragma once
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace penstock {

/// Process exit codes, as docs/formats.md lists them.
/// The numbers are a contract with scripts.
enum class Exit : int {
  ok = 0,
  failed = 1,             // an error of no other kind
  usage = 2,              // the command line
  bad_data = 65,          // a file's contents
  peer_unavailable = 69,  // the other processes of the run, when it begins
  cannot_create = 73,     // an output that exists, is locked or cannot be written
  preempted = 75,         // saved, or a process of several is lost; run it again
  bad_config = 78,        // a key or a value
};

/// Base of every error that a user can meet. The message names the thing at fault and the remedy.
/// What is not an Error is a fault of the program, such as std::logic_error of PENSTOCK_CHECK.
class Error : public std::runtime_error {
 public:
  Error(Exit exit, const std::string& message) : std::runtime_error(message), exit_(exit) {}
  /// What main() should return.
  [[nodiscard]] Exit exit() const noexcept { return exit_; }

 private:
  Exit exit_;
};

/// A key or value of the configuration is wrong.
class ConfigError : public Error {
 public:
  explicit ConfigError(const std::string& message) : Error(Exit::bad_config, message) {}
};

/// The command line is wrong.
class UsageError : public Error {
 public:
  explicit UsageError(const std::string& message) : Error(Exit::usage, message) {}
};

/// A file's contents are not what they claim to be: a checkpoint, an instance, a trace.
class DataError : public Error {
 public:
  explicit DataError(const std::string& message) : Error(Exit::bad_data, message) {}
};

/// The operating system refused: disk full, no permission, a lock held by another process.
class IoError : public Error {
 public:
  explicit IoError(const std::string& message, Exit exit = Exit::failed) : Error(exit, message) {}
};

/// Another process of the run is gone or does not answer; the run goes on from its last checkpoint.
class PeerError : public Error {
 public:
  explicit PeerError(const std::string& message, Exit exit = Exit::preempted)
      : Error(exit, message) {}
};

/// The candidate closest to `word` by edit distance, or empty when none is near.
/// Near is at most two edits, or half of the word's letters if that is more.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

/// ", did you mean 'x'?" or nothing: the tail of an error on an unknown name.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

}  // namespace penstock
