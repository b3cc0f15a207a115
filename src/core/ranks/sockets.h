#pragma once
#include <sys/socket.h>

#include <chrono>
#include <string>
#include <utility>

namespace penstock::detail {

using Clock = std::chrono::steady_clock;

/// A descriptor that is closed with it. Can be moved.
class Socket {
 public:
  explicit Socket(int fd = -1) : fd_(fd) {}
  ~Socket();
  Socket(Socket&& other) noexcept : fd_(other.take()) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool open() const { return fd_ >= 0; }
  int take() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

/// Of IPv4 or IPv6, with its port.
struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;

  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  [[nodiscard]] bool is_loopback() const;
  void set_port(std::uint16_t port);
  /// In numbers, without the port.
  [[nodiscard]] std::string host() const;
  /// "host port", in numbers.
  [[nodiscard]] std::string text() const;
  /// What text() gave; throws PeerError for anything else.
  static Address of(const std::string& text);
};

/// A socket that listens on that address and nowhere else. Throws std::system_error.
Socket listen_on(const Address& address);
/// The address it listens on, with the port that the kernel chose.
Address address_of(const Socket& socket);
/// The address of this machine that leads there, port 0.
Address own_address(const Address& there);
/// Connected, with a deadline; not open where nobody listened. Throws std::system_error.
Socket connect_to(const Address& address, Clock::time_point until);
/// The next that connects, or one that is not open once the time is over.
Socket accept_from(const Socket& listening, Clock::time_point until);

}  // namespace penstock::detail
