#include "domains/booking/service/database.h"

#include "penstock/core/base/errors.h"

namespace penstock::booking::service {

std::unique_ptr<Database> open_database(const std::string& where) {
  const bool server = where.starts_with("postgresql://") || where.starts_with("postgres://");
  return server ? open_postgresql(where) : open_sqlite(where);
}

Transaction::Transaction(Database& database) : database_(database) {
  database_.run_script(database_.shared() ? "BEGIN" : "BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  if (!open_) { return; }
  try {
    database_.run_script("ROLLBACK");
  } catch (const Error&) {}  // a lost connection has rolled back by itself
}

void Transaction::commit() {
  open_ = false;
  database_.run_script("COMMIT");
}

}  // namespace penstock::booking::service
