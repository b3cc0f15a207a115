#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "penstock/core/env/spec.h"
#include "penstock/core/env/vec_env.h"

namespace penstock {

/// What a worker is to do with an env. It answers by writing the env's rows and then `none`.
enum class Order : std::uint32_t {
  none = 0,
  reset = 1,    // the next episode, with the seed in the row; makes the env first if need be
  step = 2,     // with the action in the row; an episode that ends is followed by a reset
  rebuild = 3,  // makes the env again, then as reset
  keep = 4,     // writes the env's own state into the file that the message names
  restore = 5,  // gives the env the state that is in that file
};

/// What became of an order.
enum class Answer : std::uint8_t {
  ok = 0,
  failed = 1,  // the env threw; its message says what
  absent = 2,  // a step of an env that has no episode: its worker is a new one
};

/// Where a worker and its parent meet. Each side sleeps on a futex of its own; `asleep` and
/// `waiting` spare the other side a system call while nobody sleeps.
/// Sequential consistency is what makes a sleeper visible to whoever rings; do not relax it.
struct alignas(128) Mailbox {
  std::atomic<std::uint32_t> bell;       // grows with every batch of orders
  std::atomic<std::uint32_t> asleep;     // the worker sleeps on the bell
  std::atomic<std::uint32_t> quit;       // the worker should close its envs and end
  std::atomic<std::uint32_t> completed;  // grows with every batch of answers
  std::atomic<std::uint32_t> waiting;    // threads of the parent that sleep on `completed`
  std::atomic<std::uint32_t> progress;   // grows with every order carried out
  std::atomic<std::int32_t> current;     // the env that is at work; -1: none
};

/// The rows of all envs, as a fragment has them, with a mailbox per worker: one block of
/// anonymous memory (memfd) that a parent and its workers map. It is gone with its last user.
///
/// Views are of the block and live as long as it is mapped. No locks: an order says whose turn it
/// is. The parent writes a row while its order is `none`, the worker while it is not. Both sides
/// use this class; a magic number tells other layouts apart.
class SharedRows {
 public:
  static constexpr std::size_t kMessageSize = 2048;  // bytes, with the zero at the end

  /// A new block for `num_envs` envs split evenly between workers.
  /// All zero at first. Throws IoError when the system gives no memory.
  SharedRows(const EnvSpec& spec, std::size_t num_envs, std::size_t num_workers);
  /// The block behind a descriptor, which stays the caller's. Throws DataError when it is not one.
  explicit SharedRows(int fd);
  SharedRows(const SharedRows&) = delete;
  SharedRows& operator=(const SharedRows&) = delete;
  ~SharedRows();

  /// To be handed to workers; closed by the destructor where it was made here.
  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] std::size_t num_envs() const { return shape_.num_envs; }
  [[nodiscard]] std::size_t num_workers() const { return shape_.num_workers; }
  [[nodiscard]] std::size_t num_features() const { return shape_.num_features; }  // F
  [[nodiscard]] std::size_t mask_width() const { return shape_.mask_width; }      // 0: not masked
  [[nodiscard]] std::size_t dims() const { return shape_.dims; }  // numbers per action
  [[nodiscard]] bool continuous() const { return shape_.continuous != 0; }

  /// The envs of a worker, and the worker of an env.
  [[nodiscard]] EnvRange range_of(std::size_t worker) const;
  [[nodiscard]] std::size_t worker_of(std::size_t env) const;

  /// What both sides read and write. `const`, because only the memory changes.
  [[nodiscard]] Mailbox& mail(std::size_t worker) const { return mail_[worker]; }
  [[nodiscard]] std::atomic<Order>& order(std::size_t env) const { return order_[env]; }
  [[nodiscard]] Answer& answer(std::size_t env) const { return answer_[env]; }
  /// Text that ends with a zero byte.
  [[nodiscard]] std::span<char> message(std::size_t env) const {
    return {message_ + env * kMessageSize, kMessageSize};
  }
  [[nodiscard]] std::uint64_t& seed(std::size_t env) const { return seed_[env]; }
  /// Rows [F]: the observation to act on next, and the last one of an episode that ended.
  [[nodiscard]] std::span<float> obs(std::size_t env) const {
    return {obs_ + env * num_features(), num_features()};
  }
  [[nodiscard]] std::span<float> final_obs(std::size_t env) const {
    return {final_obs_ + env * num_features(), num_features()};
  }
  [[nodiscard]] std::span<bool> legal(std::size_t env) const {
    return {legal_ + env * mask_width(), mask_width()};
  }
  /// The action [dims], one of the two by its kind; the other is empty.
  [[nodiscard]] std::span<std::int64_t> choices(std::size_t env) const {
    return {choices_ + env * dims(), continuous() ? 0 : dims()};
  }
  [[nodiscard]] std::span<float> points(std::size_t env) const {
    return {points_ + env * dims(), continuous() ? dims() : 0};
  }
  [[nodiscard]] float& reward(std::size_t env) const { return reward_[env]; }
  [[nodiscard]] bool& terminated(std::size_t env) const { return terminated_[env]; }
  [[nodiscard]] bool& truncated(std::size_t env) const { return truncated_[env]; }
  [[nodiscard]] Success& success(std::size_t env) const { return success_[env]; }
  /// Of the episode that ended, as EnvSpec::stats names them.
  [[nodiscard]] std::span<double, kMaxStats> stats(std::size_t env) const {
    return std::span<double, kMaxStats>(stats_ + env * kMaxStats, kMaxStats);
  }

 private:
  struct Shape {
    std::uint64_t magic = 0;
    std::uint64_t num_envs = 0;
    std::uint64_t num_workers = 0;
    std::uint64_t num_features = 0;
    std::uint64_t mask_width = 0;
    std::uint64_t dims = 0;
    std::uint64_t continuous = 0;
  };

  void map();
  /// Walks through the parts of the block, whose size it returns; sets the pointers when `base` is
  /// not null.
  std::size_t lay_out(std::byte* base);

  int fd_ = -1;
  bool owns_fd_ = true;
  Shape shape_;
  std::byte* base_ = nullptr;
  std::size_t size_ = 0;

  Mailbox* mail_ = nullptr;
  std::atomic<Order>* order_ = nullptr;
  Answer* answer_ = nullptr;
  char* message_ = nullptr;
  std::uint64_t* seed_ = nullptr;
  float* obs_ = nullptr;
  float* final_obs_ = nullptr;
  bool* legal_ = nullptr;
  std::int64_t* choices_ = nullptr;
  float* points_ = nullptr;
  float* reward_ = nullptr;
  bool* terminated_ = nullptr;
  bool* truncated_ = nullptr;
  Success* success_ = nullptr;
  double* stats_ = nullptr;
};

}  // namespace penstock
