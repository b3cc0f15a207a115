#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "penstock/tools/http/message.h"

namespace penstock::booking::service {

struct ServiceConfig {
  std::vector<std::string> fleets;  // files; the name without its ending is the depot's
  std::string store;                // a path, or postgresql://...
  std::string clock;                // a file that tells the time; empty: the system does
  std::string tastes;               // a file of what customers like; empty: nothing is known
  std::string policy;               // a network that sells, see selling::Seller; empty: none does
  std::int64_t improve = 2000;      // rounds of search for each change, between calls; 0: none
};

/// Depots on days, with what is booked there: plans are quoted, held, booked and shown. What was
/// answered is in the store. All calls are thread-safe; those of one plan wait for each other.
/// A plan's name is DEPOT.YYYY-MM-DD, and it is there from its first call on.
class Service {
 public:
  /// Reads the fleets and the plans from yesterday on, all of which must keep what they promised;
  /// older plans are read when they are asked for. Throws DataError or IoError, and UsageError
  /// where a policy lacks what it sells by.
  explicit Service(const ServiceConfig& config);
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;
  /// Ends the search.
  ~Service();

  http::Response quote(const std::string& plan, const std::string& body);
  /// `verb`: hold, commit, cancel, move, decline or progress.
  http::Response change(const std::string& verb, const std::string& plan, const std::string& body);
  http::Response show(const std::string& plan);
  http::Response list();
  /// What was shown and taken, as a CSV for `penstock booking backtest`.
  http::Response answers();
  /// What is believed about a customer.
  http::Response customer(const std::string& id);
  /// Counters as Prometheus reads them. Waits for nobody.
  [[nodiscard]] std::string metrics() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace penstock::booking::service
