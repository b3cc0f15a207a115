#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "penstock/core/train/domain.h"
#include "penstock/core/train/trained_run.h"
#include "penstock/domains/cage2/sim/workflow.h"

namespace penstock::cage2 {

/// What a defender does next.
struct Decision {
  std::int64_t action = 0;         // of the 145
  std::int64_t choice = 0;         // its number among the policy's own
  std::optional<double> log_prob;  // of a choice that was drawn
};

/// A defender that plays one game at a time: a script, or a trained policy. Sees what the
/// challenge's Blue agent sees. Not thread-safe.
class Blue {
 public:
  virtual ~Blue() = default;
  /// Begins an episode, which is a function of the seed and of what is seen.
  virtual void reset(std::uint64_t seed) = 0;
  virtual Decision act(ObsBits obs) = 0;
  /// How the action went, and what was seen then.
  virtual void note(std::int64_t action, Flag flag, ObsBits obs) = 0;
};

/// What `--blue` names, and how it is played.
struct BlueChoice {
  std::string name = "react";         // a script or a run directory
  std::string checkpoint = "latest";  // of a run
  std::string order;     // that a policy of cage2_workflow keeps; empty: the one of its run
  bool sampled = false;  // its actions are drawn, not the most likely ones
};

/// A defender with the game that it was made for.
struct BluePlayer {
  std::unique_ptr<TrainedRun> run;  // none: a script
  std::unique_ptr<Blue> blue;       // needs the run
  Simulator::Config game;           // of a run: what it was trained on; of a script: the defaults
  BlueKeys keys = {};               // what the policy is given beside it
  bool is_judged = false;           // of cage2_workflow: by the order of `keys`
  bool rule_a = false;              // by which rule
  bool shows_order = false;         // to the policy

  /// Whether success of Blue's own actions matters to the policy.
  [[nodiscard]] bool remembers() const { return keys.any(); }
};

/// A script. Throws UsageError naming those there are.
BluePlayer scripted_blue(const std::string& name);
/// A policy of `cage2`, `cage2_defender` or `cage2_workflow`. Throws UsageError for another env,
/// for an order that must be told and is not, and as open_run() does. What the run has to say of
/// itself goes to stderr.
BluePlayer trained_blue(const BlueChoice& choice, const Catalog& catalog);
/// Whichever of them the name is of.
BluePlayer make_blue(const BlueChoice& choice, const Catalog& catalog);

}  // namespace penstock::cage2
