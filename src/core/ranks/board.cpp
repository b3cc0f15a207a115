#include "core/ranks/board.h"

#include <c10/util/Logging.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "penstock/core/base/errors.h"

namespace penstock::detail {
namespace {

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

/// The first line of what libtorch says, without the place in its source.
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

class StoreBoard final : public Board {
 public:
  StoreBoard(const Launch& launch, int listening) : launch_(launch) {
    guarded([&] {
      c10d::TCPStoreOptions options;
      options.port = launch.port;
      options.isServer = listening >= 0;
      options.numWorkers = launch.size;
      options.waitWorkers = false;
      options.timeout = milliseconds(launch.timeout_s);
      if (listening >= 0) { options.masterListenFd = listening; }
      auto store = c10::make_intrusive<c10d::TCPStore>(launch.address, options);
      store_ = c10::make_intrusive<c10d::PrefixStore>("penstock/" + launch.attempt, store);
    });
  }

  void put(const std::string& name, const std::string& note) override {
    guarded([&] { store_->set(name, std::vector<std::uint8_t>(note.begin(), note.end())); });
  }
  std::string take(const std::string& name) override {
    std::string note;
    guarded([&] {
      const std::vector<std::uint8_t> bytes = store_->get(name);
      note.assign(bytes.begin(), bytes.end());
    });
    return note;
  }

 private:
  template <class Call>
  void guarded(const Call& call) const {
    try {
      call();
    } catch (const std::exception& error) {
      throw PeerError(
          fmt::format(
              "rank {} of {} has not met the others at {}:{} ({}); are all of them started, "
              "with the same MASTER_ADDR and MASTER_PORT? They wait for {:g} s (--peer-timeout)",
              launch_.rank, launch_.size, launch_.address, launch_.port, reason_of(error),
              launch_.timeout_s),
          Exit::peer_unavailable);
    }
  }

  Launch launch_;
  c10::intrusive_ptr<c10d::Store> store_;
};

}  // namespace

std::unique_ptr<Board> open_board(const Launch& launch, int listening) {
  silence_c10d();
  return std::make_unique<StoreBoard>(launch, listening);
}

}  // namespace penstock::detail
