#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "penstock/core/store/safetensors.h"

namespace penstock {

/// What is saved: views of live memory, and one JSON document.
struct CheckpointData {
  std::map<std::string, std::vector<TensorView>> tensors;  // by file: "model", "optim", "envs"
  std::string state;                                       // the text of state.json
};

/// What was loaded.
struct Checkpoint {
  std::int64_t step = 0;
  std::map<std::string, Safetensors> tensors;  // by file, as above
  std::string state;
};

/// How much of a checkpoint is read. `policy` is what acting needs: the model and the state, and
/// the envs' file where there is one; an optimiser's file may be missing or damaged.
enum class CheckpointPart { whole, policy };

/// A directory of checkpoints: <step>/{model,optim,envs}.safetensors, state.json, MANIFEST.json
/// with the size and XXH3 of every file and of every tensor; LATEST and BEST name a step each. A
/// save writes into a temporary directory, syncs every file and the directory, renames, syncs the
/// parent, then moves LATEST the same way: at any instant LATEST names a whole checkpoint or does
/// not exist. One process writes, one save at a time; any number may read.
class CheckpointStore {
 public:
  /// `keep_last` newest (at least one) are kept, and the best. Touches nothing until save().
  CheckpointStore(std::string dir, std::size_t keep_last);

  /// Replaces an earlier save of the same step. Checkpoints of later steps are removed (but not the
  /// best): the run has resumed from before them. Throws IoError; earlier
  /// checkpoints then stay as they are.
  void save(std::int64_t step, const CheckpointData& data, bool best);
  /// The newest that is whole. One that is damaged or cannot be read is reported to `warn` (which
  /// file, which tensor, what is used instead) and skipped. Throws DataError when checkpoints exist
  /// but none is whole, when none exists, and at one of a newer schema, which is not skipped.
  Checkpoint load_latest(const std::function<void(const std::string&)>& warn,
                         CheckpointPart part = CheckpointPart::whole) const;
  /// Throws DataError when it is missing or damaged.
  Checkpoint load(std::int64_t step, CheckpointPart part = CheckpointPart::whole) const;
  [[nodiscard]] std::optional<std::int64_t> best() const;
  [[nodiscard]] std::vector<std::int64_t> steps() const;  // ascending
  /// Whether a save has ever ended: a run's first is of step 0, and its last act is LATEST.
  [[nodiscard]] bool saved() const;

 private:
  void prune(std::int64_t saved) const;
  // What load_latest tries, in order, and what is wrong with LATEST.
  std::vector<std::int64_t> candidates(std::vector<std::string>& complaints) const;

  std::string dir_;
  std::size_t keep_last_;
};

}  // namespace penstock
