// The sum over processes that training uses, beside Gloo's own all-reduce: time, bits and
// allocations. With sizes in bytes as arguments, the sum alone, on any network: what a model of the
// cost needs. bench/ranks/{measure,scale} start it; RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT
// say who it is.
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <span>
#include <string>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <vector>

#include "penstock/core/base/random.h"
#include "penstock/core/ranks/join.h"

namespace {
std::atomic<std::int64_t> num_allocations = 0;
}

// Of the whole program, libtorch included.
void* operator new(std::size_t size) {
  ++num_allocations;
  if (void* memory = std::malloc(size)) { return memory; }
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kSizes[] = {20'000, 100'000, 1'000'000, 10'000'000};  // bytes
constexpr int kRounds = 5;

/// What this process adds: the same in every round.
std::vector<float> numbers_of(std::size_t rank, std::size_t count) {
  penstock::Random random(rank + 1);
  std::vector<float> numbers(count);
  for (float& x : numbers) { x = random.uniform_float() - 0.5F; }
  return numbers;
}

/// Pairwise, as one process sums its shards.
std::vector<float> tree_sum(std::size_t size, std::size_t count) {
  std::vector<std::vector<float>> parts;
  for (std::size_t rank = 0; rank < size; ++rank) { parts.push_back(numbers_of(rank, count)); }
  for (std::size_t stride = 1; stride < size; stride *= 2) {
    for (std::size_t i = 0; i + stride < size; i += 2 * stride) {
      for (std::size_t k = 0; k < count; ++k) { parts[i][k] += parts[i + stride][k]; }
    }
  }
  return parts[0];
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

/// Gloo as it comes, on a port of its own.
class Bare {
 public:
  explicit Bare(const penstock::Launch& launch) {
    c10d::TCPStoreOptions options;
    options.port = static_cast<std::uint16_t>(std::atoi(std::getenv("BARE_PORT")));
    options.isServer = launch.rank == 0;
    options.numWorkers = launch.size;
    auto store = c10::make_intrusive<c10d::TCPStore>(launch.address, options);
    auto gloo = c10d::ProcessGroupGloo::Options::create(std::chrono::seconds(60));
    gloo->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname(launch.address));
    gloo->threads = 1;
    group_ = c10::make_intrusive<c10d::ProcessGroupGloo>(store, static_cast<int>(launch.rank),
                                                         static_cast<int>(launch.size), gloo);
  }
  void sum(std::vector<float>& values) {
    std::vector<at::Tensor> tensors{at::from_blob(values.data(), {std::ssize(values)})};
    group_->allreduce(tensors)->wait();
  }
  void barrier() { group_->barrier()->wait(); }

 private:
  c10::intrusive_ptr<c10d::ProcessGroupGloo> group_;
};

/// Microseconds of one call, back to back as training makes them.
double time_of(int calls, const std::function<void()>& call) {
  const auto begin = Clock::now();
  for (int i = 0; i < calls; ++i) { call(); }
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count() / calls;
}

void compare_with_gloo(penstock::Peers& peers, const penstock::Launch& launch) {
  Bare bare(launch);
  for (const std::size_t bytes : kSizes) {
    const std::size_t count = bytes / sizeof(float);
    std::vector<float> values = numbers_of(launch.rank, count);
    peers.sum(std::span<float>(values));
    const bool same = values == tree_sum(launch.size, count);
    // Sums of sums would soon be infinite, which costs time of its own.
    std::ranges::fill(values, 0.0F);
    const int calls = std::max<int>(10, static_cast<int>(20'000'000 / bytes / launch.size));
    std::vector<double> ours;
    std::vector<double> theirs;
    std::int64_t allocations = 0;
    for (int round = 0; round < kRounds; ++round) {
      bare.barrier();
      theirs.push_back(time_of(calls, [&] { bare.sum(values); }));
      bare.barrier();
      const std::int64_t before = num_allocations;
      ours.push_back(time_of(calls, [&] { peers.sum(std::span<float>(values)); }));
      allocations = (num_allocations - before) / calls;
    }
    if (launch.rank == 0) {
      std::printf(
          "{\"ranks\":%zu,\"bytes\":%zu,\"tree_us\":%.1f,\"bare_us\":%.1f,\"ratio\":%.3f,"
          "\"allocations\":%lld,\"same_bits\":%s}\n",
          launch.size, bytes, median(ours), median(theirs), median(ours) / median(theirs),
          static_cast<long long>(allocations), same ? "true" : "false");
      std::fflush(stdout);
    }
  }
  bare.barrier();
}

void time_sums(penstock::Peers& peers, const penstock::Launch& launch, std::size_t bytes) {
  constexpr int kCalls = 20;
  std::vector<float> values(bytes / sizeof(float), 0.0F);
  std::vector<double> us;
  for (int round = 0; round < kRounds; ++round) {
    us.push_back(time_of(kCalls, [&] { peers.sum(std::span<float>(values)); }));
  }
  if (launch.rank == 0) { std::printf("{\"bytes\":%zu,\"tree_us\":%.1f}\n", bytes, median(us)); }
}

}  // namespace

int main(int argc, char** argv) {
  const penstock::Launch launch = penstock::read_launch();
  const std::span<char*> sizes(argv + 1, argc - 1);
  const auto reach = sizes.empty() ? penstock::Reach::this_machine : penstock::Reach::any_network;
  const auto peers = penstock::join(launch, reach);
  if (sizes.empty()) { compare_with_gloo(*peers, launch); }
  for (const char* size : sizes) { time_sums(*peers, launch, std::stoul(size)); }
  return 0;
}
