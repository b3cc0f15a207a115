#pragma once
#include <string>

#include "domains/cage2/cli/blue.h"
#include "domains/cage2/cli/scene.h"
#include "penstock/core/base/json_value.h"

namespace penstock::cage2 {

/// An episode as JSON: what was seen, done and true after each step. The keys are listed in
/// docs/cage2/README.md.
class GameLog {
 public:
  GameLog(std::string blue, const Simulator::Config& game, std::uint64_t seed);

  /// After each step; the scene before the first is not part of it.
  void add(const Scene& scene, const Decision& decision);
  /// After the last: how an order was kept.
  void judge(const std::string& order, const Judgement& judgement);
  /// The whole episode; nothing is left of it.
  [[nodiscard]] std::string line();

 private:
  OrderedJson head_;
  OrderedJson steps_ = OrderedJson::array();
  int total_tenths_ = 0;
};

}  // namespace penstock::cage2
