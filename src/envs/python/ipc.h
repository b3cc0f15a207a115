#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "penstock/envs/python/launcher.h"

namespace penstock::detail {

/// A descriptor with an owner.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor();
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }
  void close();

 private:
  int fd_ = -1;
};

/// Two ends, closed in programs that are executed.
struct Pair {
  Descriptor ours;
  Descriptor theirs;
};
Pair make_pipe();    // theirs can be read, and ends when ours is closed
Pair make_socket();  // a stream in both directions

/// Anonymous memory that holds a text.
Descriptor memory_with(const std::string& text);

/// Runs `python -m penstock_worker WORDS...` with these descriptors as 3, 4, ...
Process spawn_python(const std::string& python, const std::vector<std::string>& words,
                     const std::vector<int>& descriptors);

/// Whether there is something to read, or an end, within this time; signals do not shorten it.
bool readable_within(int fd, double seconds);

/// A line of text with a descriptor beside it (-1: none). Throw IoError when the other side is gone
/// or silent. `meanwhile` is called several times a second; what it throws is passed on.
void send_line(int socket, const std::string& line, int descriptor);
std::string receive_line(int socket, double seconds, Descriptor* descriptor,
                         const std::function<void()>& meanwhile = {});

}  // namespace penstock::detail
