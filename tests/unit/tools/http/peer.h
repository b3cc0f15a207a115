#pragma once
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

namespace penstock::http {

/// A blocking socket to a server of this machine, which gives up after a minute.
class Peer {
 public:
  explicit Peer(int port) : port_(port), socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    const timeval patience{.tv_sec = 60, .tv_usec = 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      throw std::runtime_error("cannot connect");
    }
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  Peer(Peer&& other) noexcept : port_(other.port_), socket_(std::exchange(other.socket_, -1)) {}
  Peer& operator=(Peer&&) = delete;
  ~Peer() { ::close(socket_); }

  void send(std::string_view text) {
    while (!text.empty()) {
      const ssize_t sent = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) { return; }  // the other side has closed
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  void ask(const std::string& method, const std::string& path, const std::string& body = "") {
    send(method + " " + path + " HTTP/1.1\r\nHost: localhost:" + std::to_string(port_) +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  }
  /// The next answer, head and body; empty when the other side has closed.
  std::string answer() {
    std::string text;
    while (text.find("\r\n\r\n") == std::string::npos) {
      if (!read_one(text)) { return {}; }
    }
    const std::size_t at = text.find("Content-Length: ") + 16;
    const std::size_t whole = text.size() + std::stoul(text.substr(at));
    while (text.size() < whole) {
      if (!read_one(text)) { return {}; }
    }
    return text;
  }
  int status() {
    const std::string text = answer();
    return text.empty() ? 0 : std::stoi(text.substr(9, 3));
  }

 private:
  bool read_one(std::string& text) {
    char byte = 0;
    if (::recv(socket_, &byte, 1, 0) != 1) { return false; }
    text += byte;
    return true;
  }

  int port_;
  int socket_;
};

}  // namespace penstock::http
