#include <ATen/ops/from_blob.h>
#include <c10/util/Logging.h>
#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "core/ranks/links.h"
#include "penstock/core/base/errors.h"

namespace penstock::detail {
namespace {

using Group = c10::intrusive_ptr<c10d::ProcessGroupGloo>;
using WorkHandle = c10::intrusive_ptr<c10d::Work>;

constexpr int kTag = 1;  // calls on a pair of processes are in order

std::chrono::milliseconds milliseconds(double seconds) {
  constexpr double kPerSecond = 1e3;
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * kPerSecond));
}

/// libtorch would tell of each try to connect, with a stack trace.
void silence_c10d() {
  constexpr int kKeepOthers = 0;
  setenv("TORCH_CPP_LOG_LEVEL", "FATAL", kKeepOthers);
  c10::initLogging();
}

/// Gloo writes to sockets whose other end may be gone; without this the signal ends the process
/// before it can say so.
void ignore_broken_pipes() {
  struct sigaction now {};
  sigaction(SIGPIPE, nullptr, &now);
  if (now.sa_handler == SIG_DFL) { std::signal(SIGPIPE, SIG_IGN); }
}

/// The first line of what libtorch or Gloo says, without the place in their source.
std::string reason_of(const std::exception& error) {
  const auto* of_torch = dynamic_cast<const c10::Error*>(&error);
  std::string text = of_torch != nullptr ? of_torch->what_without_backtrace() : error.what();
  text = text.substr(0, text.find('\n'));
  if (text.starts_with('[')) {
    const std::size_t end = text.find("] ");
    if (end != std::string::npos) { text = text.substr(end + 2); }
  }
  return text;
}

at::Tensor tensor_of(std::span<const std::byte> bytes) {
  // libtorch has no view of bytes that it may not change; what is sent is only read.
  return at::from_blob(const_cast<std::byte*>(bytes.data()), {std::ssize(bytes)}, at::kByte);
}

class GlooLinks final : public Links {
 public:
  GlooLinks(Group group, Launch launch) : group_(std::move(group)), launch_(std::move(launch)) {}

  void send(std::size_t to, std::span<const std::byte> bytes) override {
    if (bytes.empty()) { return; }
    guarded(to, "taken what was sent to it", [&] { start_send(to, bytes)->wait(); });
  }
  void receive(std::size_t from, std::span<std::byte> bytes) override {
    if (bytes.empty()) { return; }
    guarded(from, "answered", [&] { start_receive(from, bytes)->wait(); });
  }
  void swap(std::size_t with, std::span<const std::byte> out, std::span<std::byte> in) override {
    guarded(with, "answered", [&] {
      const WorkHandle received = start_receive(with, in);
      const WorkHandle sent = start_send(with, out);
      sent->wait();
      received->wait();
    });
  }

 private:
  WorkHandle start_send(std::size_t to, std::span<const std::byte> bytes) {
    std::vector<at::Tensor> tensors{tensor_of(bytes)};
    return group_->send(tensors, static_cast<int>(to), kTag);
  }
  WorkHandle start_receive(std::size_t from, std::span<std::byte> bytes) {
    std::vector<at::Tensor> tensors{tensor_of(bytes)};
    return group_->recv(tensors, static_cast<int>(from), kTag);
  }

  template <class Call>
  void guarded(std::size_t other, const char* awaited, const Call& call) {
    const auto begin = std::chrono::steady_clock::now();
    try {
      call();
    } catch (const std::exception& error) {
      const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begin;
      const bool late = waited.count() >= launch_.timeout_s * 0.99;
      throw PeerError(fmt::format(
          "rank {} of {}: rank {} {} ({:.1f} s; {}). The run goes on from its last checkpoint: "
          "start all its processes again",
          launch_.rank, launch_.size, other,
          late ? fmt::format("has not {} in time", awaited) : "is gone", waited.count(),
          reason_of(error)));
    }
  }

  Group group_;
  Launch launch_;
};

c10::intrusive_ptr<c10d::Store> meet_at_store(const Launch& launch, int listening) {
  c10d::TCPStoreOptions options;
  options.port = launch.port;
  options.isServer = listening >= 0;
  options.numWorkers = launch.size;
  options.waitWorkers = false;
  options.timeout = milliseconds(launch.timeout_s);
  if (listening >= 0) { options.masterListenFd = listening; }
  auto store = c10::make_intrusive<c10d::TCPStore>(launch.address, options);
  return c10::make_intrusive<c10d::PrefixStore>("penstock/" + launch.attempt, store);
}

}  // namespace

std::unique_ptr<Links> gloo_links(const Launch& launch, const std::string& host, int listening) {
  silence_c10d();
  ignore_broken_pipes();
  try {
    auto options = c10d::ProcessGroupGloo::Options::create(milliseconds(launch.timeout_s));
    options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname(host));
    options->threads = 1;
    auto group = c10::make_intrusive<c10d::ProcessGroupGloo>(
        meet_at_store(launch, listening), static_cast<int>(launch.rank),
        static_cast<int>(launch.size), options);
    return std::make_unique<GlooLinks>(std::move(group), launch);
  } catch (const std::exception& error) {
    throw PeerError(
        fmt::format(
            "rank {} of {} has not met the others at {}:{} ({}); are all of them started, "
            "with the same MASTER_ADDR and MASTER_PORT? They wait for {:g} s (--peer-timeout)",
            launch.rank, launch.size, launch.address, launch.port, reason_of(error),
            launch.timeout_s),
        Exit::peer_unavailable);
  }
}

}  // namespace penstock::detail
