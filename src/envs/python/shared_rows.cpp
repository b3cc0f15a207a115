#include "penstock/envs/python/shared_rows.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/text.h"

namespace penstock {
namespace {

constexpr std::uint64_t kMagic = 0x32'73'77'6f'72'6e'65'70;  // "penrows2"
constexpr std::size_t kAlign = 128;         // two cache lines: what is fetched together
constexpr std::uint64_t kMost = 1U << 24U;  // of anything: sizes stay far below overflow

std::size_t aligned(std::size_t size) { return (size + kAlign - 1) / kAlign * kAlign; }

[[noreturn]] void refuse(const char* what) {
  throw IoError(std::string("shared memory: ") + what + ": " + system_text(errno));
}

}  // namespace

SharedRows::SharedRows(const EnvSpec& spec, std::size_t num_envs, std::size_t num_workers)
    : fd_(::memfd_create("penstock", MFD_CLOEXEC)),
      shape_{.magic = kMagic,
             .num_envs = num_envs,
             .num_workers = std::clamp<std::size_t>(num_workers, 1, num_envs),
             .num_features = spec.obs.size(),
             .mask_width = spec.action.masked() ? spec.action.num_actions() : 0,
             .dims = spec.action.dims(),
             .continuous = spec.action.continuous() ? 1U : 0U} {
  if (fd_ < 0) { refuse("memfd_create"); }
  size_ = lay_out(nullptr);
  if (::ftruncate(fd_, size_) != 0) { refuse("ftruncate"); }
  map();
  std::memcpy(base_, &shape_, sizeof(shape_));
  for (std::size_t w = 0; w < shape_.num_workers; ++w) { mail_[w].current = -1; }
}

SharedRows::SharedRows(int fd) : fd_(fd), owns_fd_(false) {
  struct stat info {};
  std::array<char, sizeof(Shape)> header{};
  const bool readable =
      ::fstat(fd, &info) == 0 && ::pread(fd, header.data(), header.size(), 0) == sizeof(Shape);
  std::memcpy(&shape_, header.data(), header.size());
  const std::uint64_t most = std::max(
      {shape_.num_envs, shape_.num_workers, shape_.num_features, shape_.mask_width, shape_.dims});
  if (!readable || shape_.magic != kMagic || most > kMost || shape_.num_envs == 0 ||
      shape_.num_workers == 0) {
    throw DataError("shared memory: these are not rows of envs");
  }
  size_ = lay_out(nullptr);
  if (static_cast<std::size_t>(info.st_size) != size_) {
    throw DataError("shared memory: the rows have another size than their header says");
  }
  map();
  ::madvise(base_, size_, MADV_DONTFORK);  // what an env forks cannot write into them
}

SharedRows::~SharedRows() {
  if (base_ != nullptr) { ::munmap(base_, size_); }
  if (owns_fd_) { ::close(fd_); }
}

void SharedRows::map() {
  void* memory = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  if (memory == MAP_FAILED) { refuse("mmap"); }
  base_ = static_cast<std::byte*>(memory);
  lay_out(base_);
}

std::size_t SharedRows::lay_out(std::byte* base) {
  std::size_t offset = aligned(sizeof(Shape));
  const auto place = [&]<class T>(T*& part, std::size_t count) {
    if (base != nullptr) { part = reinterpret_cast<T*>(base + offset); }
    offset = aligned(offset + count * sizeof(T));
  };
  const std::size_t n = shape_.num_envs;
  place(mail_, shape_.num_workers);
  place(order_, n);
  place(answer_, n);
  place(seed_, n);
  place(obs_, n * shape_.num_features);
  place(final_obs_, n * shape_.num_features);
  place(legal_, n * shape_.mask_width);
  place(choices_, continuous() ? 0 : n * shape_.dims);
  place(points_, continuous() ? n * shape_.dims : 0);
  place(reward_, n);
  place(terminated_, n);
  place(truncated_, n);
  place(success_, n);
  place(stats_, n * kMaxStats);
  place(message_, n * kMessageSize);  // last: pages that are never touched cost nothing
  return offset;
}

EnvRange SharedRows::range_of(std::size_t worker) const {
  return {num_envs() * worker / num_workers(), num_envs() * (worker + 1) / num_workers()};
}

std::size_t SharedRows::worker_of(std::size_t env) const {
  // The inverse of range_of: the largest w with num_envs * w / num_workers <= env.
  return ((env + 1) * num_workers() - 1) / num_envs();
}

}  // namespace penstock
