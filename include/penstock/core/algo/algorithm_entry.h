#pragma once
#include <functional>
#include <memory>
#include <string>

namespace penstock {

class LearnerFactory;

/// A line of the catalog: an algorithm.
/// The factory is known by name only, so that a catalog can be handed down without torch's headers.
struct AlgorithmEntry {
  std::string name;  // "ppo"
  std::string doc;   // a line of help
  /// A new factory each time, with the default config.
  std::function<std::unique_ptr<LearnerFactory>()> make_factory;
};

}  // namespace penstock
