#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace penstock::booking::service {

using DatabaseRow = std::vector<std::string>;  // values as text; null is the empty text

/// A connection to a database that speaks SQL. Values are texts, which both databases make into the
/// type of their column. One thread at a time.
class Database {
 public:
  Database() = default;
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  virtual ~Database() = default;

  /// Runs one statement whose parameters are $1, $2 ... in the order of their first use. It is
  /// prepared once: the text must stay where it is, as literals do. Throws IoError.
  virtual std::vector<DatabaseRow> run(const char* sql, std::span<const std::string> values) = 0;
  /// Runs statements without parameters. Throws IoError.
  virtual void run_script(const char* sql) = 0;
  /// Whether other processes may write too.
  [[nodiscard]] virtual bool shared() const = 0;

  std::vector<DatabaseRow> run(const char* sql, std::initializer_list<std::string> values) {
    return run(sql, std::span(values.begin(), values.size()));
  }
};

/// A file of SQLite, made if it is missing. IoError when another process has it open.
std::unique_ptr<Database> open_sqlite(const std::string& path);
/// A server of PostgreSQL, postgresql://... . IoError when it does not answer, or when this build
/// or this machine has no libpq.
std::unique_ptr<Database> open_postgresql(const std::string& url);
/// Either, by the form of the text.
std::unique_ptr<Database> open_database(const std::string& where);

/// From its making to commit(): all of it or nothing. Undone when it ends without commit().
class Transaction {
 public:
  /// Waits for other writers, so that what is read stays so until the end.
  explicit Transaction(Database& database);
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();
  /// On the disk when it returns. Throws IoError: then it may or may not be.
  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace penstock::booking::service
