#pragma once
#include <cstdint>
#include <string>

#include "penstock/core/store/checkpoint.h"

namespace penstock::detail {

/// Fills a new directory and syncs it. Hashes and writes straight from the views.
void write_checkpoint(const std::string& dir, std::int64_t step, const CheckpointData& data);

/// Reads a directory and holds every file against the manifest. Throws DataError naming the file
/// and, where it can be told, the tensor.
Checkpoint read_checkpoint(const std::string& dir, std::int64_t step, CheckpointPart part);

}  // namespace penstock::detail
