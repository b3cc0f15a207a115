// libpq is loaded when a store asks for it, and not linked: programs and wheels run where it is
// not, and nobody else waits for the dozen libraries behind it.
#include <fmt/format.h>

#include "domains/booking/service/database.h"
#include "penstock/core/base/errors.h"

#ifdef PENSTOCK_POSTGRESQL
#include <dlfcn.h>
#include <libpq-fe.h>

#include <algorithm>
#include <map>
#endif

namespace penstock::booking::service {
#ifdef PENSTOCK_POSTGRESQL
namespace {

/// The functions of libpq that are used.
class Libpq {
 public:
  Libpq() : handle_(dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) {
      throw IoError(
          fmt::format("PostgreSQL: {}; install libpq5, or use a file as --store", dlerror()));
    }
    find(connect, "PQconnectdb");
    find(status, "PQstatus");
    find(error, "PQerrorMessage");
    find(reset, "PQreset");
    find(finish, "PQfinish");
    find(exec, "PQexec");
    find(prepare, "PQprepare");
    find(exec_prepared, "PQexecPrepared");
    find(result_status, "PQresultStatus");
    find(clear, "PQclear");
    find(num_rows, "PQntuples");
    find(num_columns, "PQnfields");
    find(value, "PQgetvalue");
    find(length, "PQgetlength");
  }

  decltype(&PQconnectdb) connect;
  decltype(&PQstatus) status;
  decltype(&PQerrorMessage) error;
  decltype(&PQreset) reset;
  decltype(&PQfinish) finish;
  decltype(&PQexec) exec;
  decltype(&PQprepare) prepare;
  decltype(&PQexecPrepared) exec_prepared;
  decltype(&PQresultStatus) result_status;
  decltype(&PQclear) clear;
  decltype(&PQntuples) num_rows;
  decltype(&PQnfields) num_columns;
  decltype(&PQgetvalue) value;
  decltype(&PQgetlength) length;

 private:
  template <class Function>
  void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(handle_, name));
    if (function == nullptr) {
      throw IoError(fmt::format("PostgreSQL: libpq.so.5 has no {}; install a newer libpq5", name));
    }
  }

  void* handle_;  // stays: its threads and handlers cannot be taken back
};

const Libpq& libpq() {
  static const Libpq kLibrary;
  return kLibrary;
}

struct CloseLibpq {
  void operator()(PGconn* connection) const { libpq().finish(connection); }
  void operator()(PGresult* result) const { libpq().clear(result); }
};
using PgResult = std::unique_ptr<PGresult, CloseLibpq>;

class Postgresql final : public Database {
 public:
  explicit Postgresql(const std::string& url) : connection_(libpq().connect(url.c_str())) {
    if (libpq().status(connection_.get()) != CONNECTION_OK) { fail(); }
    begin_session();
  }

  using Database::run;
  std::vector<DatabaseRow> run(const char* sql, std::span<const std::string> values) override {
    if (!in_transaction_) { stay_connected(); }
    const std::string& name = prepare(sql);
    std::vector<const char*> texts(values.size());
    std::transform(values.begin(), values.end(), texts.begin(),
                   [](const std::string& text) { return text.c_str(); });
    return rows(checked(libpq().exec_prepared(connection_.get(), name.c_str(),
                                              static_cast<int>(texts.size()), texts.data(), nullptr,
                                              nullptr, 0)));
  }

  void run_script(const char* sql) override {
    const std::string_view text = sql;
    if (text == "BEGIN") { stay_connected(); }
    in_transaction_ =
        text == "BEGIN" || (in_transaction_ && text != "COMMIT" && text != "ROLLBACK");
    checked(libpq().exec(connection_.get(), sql));
  }

  [[nodiscard]] bool shared() const override { return true; }

 private:
  void begin_session() { run_script("SET synchronous_commit=on; SET client_min_messages=warning"); }

  /// Whatever was lost inside of a transaction fails with it; the next begins on a new connection.
  void stay_connected() {
    if (libpq().status(connection_.get()) == CONNECTION_OK) { return; }
    libpq().reset(connection_.get());
    names_.clear();
    if (libpq().status(connection_.get()) != CONNECTION_OK) { fail(); }
    begin_session();
  }

  const std::string& prepare(const char* sql) {
    const auto found = names_.find(sql);
    if (found != names_.end()) { return found->second; }
    const std::string name = fmt::format("s{}", names_.size());
    checked(libpq().prepare(connection_.get(), name.c_str(), sql, 0, nullptr));
    return names_.emplace(sql, name).first->second;
  }

  PgResult checked(PGresult* made) {
    PgResult result(made);
    const ExecStatusType status = libpq().result_status(result.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) { fail(); }
    return result;
  }

  static std::vector<DatabaseRow> rows(const PgResult& result) {
    const int columns = libpq().num_columns(result.get());
    std::vector<DatabaseRow> rows;
    for (int i = 0; i < libpq().num_rows(result.get()); ++i) {
      DatabaseRow& row = rows.emplace_back();
      for (int j = 0; j < columns; ++j) {
        row.emplace_back(libpq().value(result.get(), i, j),
                         static_cast<std::size_t>(libpq().length(result.get(), i, j)));
      }
    }
    return rows;
  }

  [[noreturn]] void fail() const {
    std::string why = libpq().error(connection_.get());
    std::replace(why.begin(), why.end(), '\n', ' ');
    throw IoError(fmt::format("PostgreSQL: {}; see that it runs and that --store names it", why));
  }

  std::unique_ptr<PGconn, CloseLibpq> connection_;
  std::map<const char*, std::string> names_;  // of prepared statements
  bool in_transaction_ = false;
};

}  // namespace

std::unique_ptr<Database> open_postgresql(const std::string& url) {
  return std::make_unique<Postgresql>(url);
}
#else
std::unique_ptr<Database> open_postgresql(const std::string& /*url*/) {
  throw IoError(
      "PostgreSQL: this build is without it; build with libpq-dev, or use a file as --store");
}
#endif

}  // namespace penstock::booking::service
