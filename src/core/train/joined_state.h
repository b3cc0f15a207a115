#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "penstock/core/store/checkpoint.h"
#include "penstock/core/train/engine.h"

// A run's state as it crosses processes. One process holds the rows of its own envs; a checkpoint
// holds those of all, in the order of their numbers, and so is the same for any number of
// processes.

namespace penstock::detail {

/// Of a snapshot, what only this process has.
std::vector<std::byte> pack_part(const Engine::Snapshot& part);
/// Makes rank 0's snapshot one of all processes: `parts` are theirs, in the order of ranks; the
/// first, its own, is not looked at.
void join_parts(Engine::Snapshot& snapshot, const std::vector<std::vector<std::byte>>& parts);

/// A whole checkpoint.
std::vector<std::byte> pack_checkpoint(const Checkpoint& checkpoint);
Checkpoint unpack_checkpoint(std::span<const std::byte> bytes);

}  // namespace penstock::detail
