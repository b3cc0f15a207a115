#include <fmt/format.h>
#include <sqlite3.h>

#include <map>

#include "domains/booking/service/database.h"
#include "penstock/core/base/errors.h"

namespace penstock::booking::service {
namespace {

struct CloseSqlite {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

class Sqlite final : public Database {
 public:
  explicit Sqlite(const std::string& path) : path_(path) {
    sqlite3* opened = nullptr;
    const int code =
        sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
    database_.reset(opened);
    check(code);
    // Exclusive: one process writes, and what it remembers stays true. FULL: a commit of the log is
    // on the disk when it returns; with NORMAL a power cut could take back an answer that was sent.
    run_script(
        "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
        "BEGIN IMMEDIATE; COMMIT;");
  }

  using Database::run;
  std::vector<DatabaseRow> run(const char* sql, std::span<const std::string> values) override {
    sqlite3_stmt* const statement = prepare(sql);
    for (std::size_t i = 0; i < values.size(); ++i) {
      check(sqlite3_bind_text(statement, static_cast<int>(i + 1), values[i].data(),
                              static_cast<int>(values[i].size()), SQLITE_STATIC));
    }
    std::vector<DatabaseRow> rows;
    int code = sqlite3_step(statement);
    for (; code == SQLITE_ROW; code = sqlite3_step(statement)) { rows.push_back(row(statement)); }
    sqlite3_reset(statement);
    if (code != SQLITE_DONE) { check(code); }
    return rows;
  }

  void run_script(const char* sql) override {
    check(sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr));
  }

  [[nodiscard]] bool shared() const override { return false; }

 private:
  sqlite3_stmt* prepare(const char* sql) {
    auto& statement = statements_[sql];
    if (!statement) {
      sqlite3_stmt* made = nullptr;
      check(sqlite3_prepare_v2(database_.get(), sql, -1, &made, nullptr));
      statement.reset(made);
    }
    return statement.get();
  }

  static DatabaseRow row(sqlite3_stmt* statement) {
    DatabaseRow values;
    for (int i = 0; i < sqlite3_column_count(statement); ++i) {
      const void* const text = sqlite3_column_blob(statement, i);  // the column's bytes as they are
      const std::size_t size = sqlite3_column_bytes(statement, i);
      values.emplace_back(text == nullptr ? "" : static_cast<const char*>(text), size);
    }
    return values;
  }

  void check(int code) const {
    if (code == SQLITE_OK) { return; }
    const bool busy = code == SQLITE_BUSY || code == SQLITE_LOCKED;
    throw IoError(
        fmt::format("{}: {}{}", path_, sqlite3_errmsg(database_.get()),
                    busy ? ": another process serves it; end that one, or share a PostgreSQL" : ""),
        busy ? Exit::cannot_create : Exit::failed);
  }

  std::string path_;
  std::unique_ptr<sqlite3, CloseSqlite> database_;
  std::map<const char*, std::unique_ptr<sqlite3_stmt, CloseSqlite>> statements_;  // close first
};

}  // namespace

std::unique_ptr<Database> open_sqlite(const std::string& path) {
  return std::make_unique<Sqlite>(path);
}

}  // namespace penstock::booking::service
