#include "penstock/domains/booking/service/store.h"

#include <fmt/format.h>

#include <algorithm>

#include "domains/booking/service/database.h"
#include "penstock/core/base/errors.h"

namespace penstock::booking::service {
namespace {

constexpr const char* kFormat = "1";
constexpr const char* kTables =
    "CREATE TABLE IF NOT EXISTS penstock (format TEXT NOT NULL);"
    "CREATE TABLE IF NOT EXISTS plans (id TEXT PRIMARY KEY, version BIGINT NOT NULL,"
    " routes TEXT NOT NULL);"
    "CREATE TABLE IF NOT EXISTS bookings (plan TEXT NOT NULL, id TEXT NOT NULL,"
    " expires_ms BIGINT NOT NULL, request TEXT NOT NULL, PRIMARY KEY (plan, id));"
    "CREATE TABLE IF NOT EXISTS answers (plan TEXT NOT NULL, key TEXT NOT NULL, call TEXT NOT NULL,"
    " status INTEGER NOT NULL, body TEXT NOT NULL, at_ms BIGINT NOT NULL, PRIMARY KEY (plan, key));"
    "CREATE INDEX IF NOT EXISTS answers_at ON answers (at_ms);"
    "CREATE TABLE IF NOT EXISTS choices (customer TEXT NOT NULL, at_ms BIGINT NOT NULL,"
    " plan TEXT NOT NULL, text TEXT NOT NULL);"
    "CREATE INDEX IF NOT EXISTS choices_of ON choices (customer, at_ms);";

/// Two processes may make the tables of one server at the same time: one waits for the other.
constexpr const char* kLockTables = "SELECT pg_advisory_xact_lock(7363616)";

void make_tables(Database& database) {
  Transaction transaction(database);
  if (database.shared()) { database.run_script(kLockTables); }
  database.run_script(kTables);
  const auto rows = database.run("SELECT format FROM penstock", {});
  if (rows.empty()) {
    database.run("INSERT INTO penstock VALUES ($1)", {kFormat});
  } else if (rows[0][0] != kFormat) {
    throw IoError(fmt::format(
        "the store has format {}, this program writes {}; serve it with the program that made it",
        rows[0][0], kFormat));
  }
  transaction.commit();
}

std::string text_of(std::int64_t number) { return fmt::format("{}", number); }

void write_bookings(Database& database, const Change& change) {
  for (const std::string& id : change.removed) {
    database.run("DELETE FROM bookings WHERE plan = $1 AND id = $2", {change.plan, id});
  }
  for (const StoredBooking& booking : change.put) {
    database.run(
        "INSERT INTO bookings (plan, id, expires_ms, request) VALUES ($1, $2, $3, $4) "
        "ON CONFLICT (plan, id) DO UPDATE "
        "SET expires_ms = excluded.expires_ms, request = excluded.request",
        {change.plan, booking.id, text_of(booking.expires_ms), booking.text});
  }
}

/// False when another process has answered to this key in the meantime.
bool write_answer(Database& database, const Change& change) {
  return !database
              .run(
                  "INSERT INTO answers (plan, key, call, status, body, at_ms) "
                  "VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (plan, key) DO NOTHING RETURNING "
                  "key",
                  {change.plan, change.answer->key, change.answer->call,
                   text_of(change.answer->status), change.answer->body, text_of(change.now_ms)})
              .empty();
}

}  // namespace

Store::Store(const std::string& where) : database_(open_database(where)) {
  make_tables(*database_);
}

Store::~Store() = default;

bool Store::shared() const { return database_->shared(); }

std::vector<std::string> Store::plans() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> ids;
  for (DatabaseRow& row : database_->run("SELECT id FROM plans ORDER BY id", {})) {
    ids.push_back(std::move(row[0]));
  }
  return ids;
}

std::optional<StoredPlan> Store::load(const std::string& plan) {
  const std::lock_guard lock(mutex_);
  const Transaction transaction(*database_);
  // The lock on the row keeps other processes from writing between the two readings.
  const auto rows = database_->run(database_->shared()
                                       ? "SELECT version, routes FROM plans WHERE id = $1 FOR SHARE"
                                       : "SELECT version, routes FROM plans WHERE id = $1",
                                   {plan});
  if (rows.empty()) { return {}; }
  StoredPlan found{.id = plan, .version = std::stoll(rows[0][0]), .routes = rows[0][1]};
  for (DatabaseRow& row : database_->run(
           "SELECT id, expires_ms, request FROM bookings WHERE plan = $1 ORDER BY id", {plan})) {
    found.bookings.push_back({std::move(row[0]), std::stoll(row[1]), std::move(row[2])});
  }
  return found;
}

std::int64_t Store::version(const std::string& plan) {
  const std::lock_guard lock(mutex_);
  const auto rows = database_->run("SELECT version FROM plans WHERE id = $1", {plan});
  return rows.empty() ? 0 : std::stoll(rows[0][0]);
}

/// Whether the plan was still at the change's version; it is at the next then, and locked.
bool Store::take_version(const Change& change) {
  const std::string after = text_of(change.after);
  if (change.before == 0) {
    return !database_
                ->run(
                    "INSERT INTO plans (id, version, routes) VALUES ($1, $2, $3) "
                    "ON CONFLICT (id) DO UPDATE SET version = excluded.version, routes = "
                    "excluded.routes "
                    "WHERE plans.version = 0 RETURNING id",
                    {change.plan, after, change.routes})
                .empty();
  }
  const std::string before = text_of(change.before);
  if (change.routes.empty()) {
    return !database_
                ->run("UPDATE plans SET version = $1 WHERE id = $2 AND version = $3 RETURNING id",
                      {after, change.plan, before})
                .empty();
  }
  return !database_
              ->run(
                  "UPDATE plans SET version = $1, routes = $2 WHERE id = $3 AND version = $4 "
                  "RETURNING id",
                  {after, change.routes, change.plan, before})
              .empty();
}

bool Store::write(const Change& change) {
  const std::lock_guard lock(mutex_);
  Transaction transaction(*database_);
  if (!take_version(change)) { return false; }
  write_bookings(*database_, change);
  if (change.answer && !write_answer(*database_, change)) { return false; }
  if (change.choice) {
    database_->run(
        "INSERT INTO choices (customer, at_ms, plan, text) VALUES ($1, $2, $3, $4)",
        {change.choice->customer, text_of(change.now_ms), change.plan, change.choice->text});
  }
  transaction.commit();
  return true;
}

std::optional<StoredAnswer> Store::answer(const std::string& plan, const std::string& key) {
  const std::lock_guard lock(mutex_);
  auto rows = database_->run("SELECT call, status, body FROM answers WHERE plan = $1 AND key = $2",
                             {plan, key});
  if (rows.empty()) { return {}; }
  return StoredAnswer{.key = key,
                      .call = std::move(rows[0][0]),
                      .status = std::stoi(rows[0][1]),
                      .body = std::move(rows[0][2])};
}

std::vector<std::string> Store::choices(const std::string& customer, std::int32_t most) {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> texts;
  for (DatabaseRow& row : database_->run(
           "SELECT text FROM choices WHERE customer = $1 ORDER BY at_ms DESC, plan, text LIMIT $2",
           {customer, text_of(most)})) {
    texts.push_back(std::move(row[0]));
  }
  return texts;
}

std::vector<Store::DatedChoice> Store::all_choices(std::int64_t most) {
  const std::lock_guard lock(mutex_);
  std::vector<DatedChoice> all;
  for (DatabaseRow& row : database_->run(
           "SELECT at_ms, customer, text FROM choices ORDER BY at_ms DESC, plan, text LIMIT $1",
           {text_of(most)})) {
    all.push_back({.at_ms = std::stoll(row[0]),
                   .choice = {.customer = std::move(row[1]), .text = std::move(row[2])}});
  }
  std::reverse(all.begin(), all.end());
  return all;
}

void Store::forget_answers(std::int64_t before_ms) {
  const std::lock_guard lock(mutex_);
  Transaction transaction(*database_);
  database_->run("DELETE FROM answers WHERE at_ms < $1", {text_of(before_ms)});
  transaction.commit();
}

}  // namespace penstock::booking::service
