#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace penstock::booking::service {

class Database;

/// A request that has a place in a plan.
struct StoredBooking {
  std::string id;
  std::int64_t expires_ms = 0;  // since 1970; 0: booked, not held
  std::string text;             // JSON: what was asked and what was promised
};

/// A plan as it was when its version was written.
struct StoredPlan {
  std::string id;
  std::int64_t version = 0;
  std::string routes;  // JSON
  std::vector<StoredBooking> bookings{};
};

/// What was answered to a call with an idempotency key.
struct StoredAnswer {
  std::string key;
  std::string call;  // its digest: the same key with another call is a mistake
  int status = 200;
  std::string body;
};

/// What a customer said to what was shown. Many make a belief about the customer.
struct StoredChoice {
  std::string customer;
  std::string text;  // JSON: what was shown, and what of it was taken
};

/// What one call changes. Written whole or not at all.
struct Change {
  std::string plan;
  std::int64_t before = 0;  // the version that it was made for; 0: a plan that is not there yet
  std::int64_t after = 0;   // the same: of the plan only routes may change
  std::string routes;       // empty: as they were
  std::vector<StoredBooking> put{};
  std::vector<std::string> removed{};
  std::optional<StoredAnswer> answer{};
  std::optional<StoredChoice> choice{};
  std::int64_t now_ms = 0;
};

/// Where bookings outlive the process: a file of SQLite, for one process at a time, or PostgreSQL
/// for several. All calls are thread-safe and throw IoError; after one that does, the change may or
/// may not be there: load the plan again.
class Store {
 public:
  /// A path, or postgresql://... . Makes what is missing; IoError when that is not possible, the
  /// file is another's, or was made by a newer version of the program.
  explicit Store(const std::string& where);
  ~Store();

  /// Whether other processes may change plans: then version() is worth asking.
  [[nodiscard]] bool shared() const;
  /// The ids of plans that were written, in order.
  std::vector<std::string> plans();
  /// Nothing for a plan that was never written.
  std::optional<StoredPlan> load(const std::string& plan);
  /// 0 for a plan that was never written.
  std::int64_t version(const std::string& plan);
  /// On the disk when it returns. False when the plan has another version by now.
  bool write(const Change& change);
  /// What was answered to a key of a plan.
  std::optional<StoredAnswer> answer(const std::string& plan, const std::string& key);
  /// The texts of what a customer chose, the newest first, so many at most.
  std::vector<std::string> choices(const std::string& customer, std::int32_t most);
  /// What anybody chose, with the moments, in their order: the newest so many.
  struct DatedChoice {
    std::int64_t at_ms = 0;
    StoredChoice choice;
  };
  std::vector<DatedChoice> all_choices(std::int64_t most);
  /// Forgets the answers from before a time.
  void forget_answers(std::int64_t before_ms);

 private:
  bool take_version(const Change& change);

  std::mutex mutex_;
  std::unique_ptr<Database> database_;
};

}  // namespace penstock::booking::service
