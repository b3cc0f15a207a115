#pragma once
#include <cstddef>
#include <memory>
#include <span>

#include "penstock/core/ranks/launch.h"

namespace penstock::detail {

/// Bytes to and from each other process of a launch. From one thread at a time. Throws PeerError
/// that names the process and how long it was waited for.
class Links {
 public:
  virtual ~Links() = default;
  virtual void send(std::size_t to, std::span<const std::byte> bytes) = 0;
  virtual void receive(std::size_t from, std::span<std::byte> bytes) = 0;
  /// Both ways at once; the other does the same.
  virtual void swap(std::size_t with, std::span<const std::byte> out, std::span<std::byte> in) = 0;
};

/// By c10d and Gloo; all else that knows of them stays in gloo_links.cpp. `host` is the address of
/// this process, `listening` a socket for the store of rank 0, which is taken over, or -1.
std::unique_ptr<Links> gloo_links(const Launch& launch, const std::string& host, int listening);

}  // namespace penstock::detail
