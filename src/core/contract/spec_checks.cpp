#include <cmath>

#include "core/contract/checks.h"

namespace penstock::contract {

void check_entry(const Trial& trial) {
  require(!trial.entry.name.empty(), "no name");
  require(!trial.entry.doc.empty(), "no doc line");
}

void check_layout(const Trial& trial) {
  const EnvSpec spec = trial.factory.spec();
  std::size_t offset = 0;
  std::size_t feature = 0;
  for (const Part& part : spec.obs.parts()) {
    const std::string who = "part " + part.name;
    require(part.offset == offset, who + " begins at float " + std::to_string(part.offset) +
                                       ", expected " + std::to_string(offset));
    require(part.first_feature == feature, who + " begins at feature " +
                                               std::to_string(part.first_feature) + ", expected " +
                                               std::to_string(feature));
    require(&spec.obs.part(part.name) == &part, who + ": the name is taken twice");
    offset += part.size;
    feature += part.num_features;
  }
  require(offset == spec.obs.size(), "the parts do not make up the size");
  require(feature == spec.obs.num_features(), "the parts do not make up the features");
  require(offset > 0, "the row is empty");
}

void check_actions(const Trial& trial) {
  const ActionSpec action = trial.factory.spec().action;
  require(action.dims() > 0, "an action has no numbers");
  for (const std::int64_t n : action.choices()) {
    require(n > 0, "a choice among " + std::to_string(n) + " alternatives");
  }
  if (!action.continuous()) { return; }
  require(!action.masked(), "a box is masked");
  for (std::size_t d = 0; d < action.dims(); ++d) {
    const std::string who = "dimension " + std::to_string(d) + " of the box ";
    require(action.box().low[d] < action.box().high[d], who + "has low not below high");
    require(std::isfinite(action.box().high[d] - action.box().low[d]), who + "is not finite");
  }
}

}  // namespace penstock::contract
