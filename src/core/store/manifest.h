#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "core/store/atomic_file.h"
#include "penstock/core/base/errors.h"

namespace penstock::detail {

inline constexpr int kCheckpointSchema = 1;

/// Whole, but written by a later Penstock: falling back to an older checkpoint would throw work
/// away where an upgrade helps.
class NewerSchemaError : public DataError {
 public:
  using DataError::DataError;
};

/// What a checkpoint's directory must hold, as docs/formats.md describes MANIFEST.json.
struct Manifest {
  struct File {
    std::uint64_t size = 0;
    std::string xxh3;
    std::map<std::string, std::string> tensors;  // name to XXH3; empty for state.json
  };
  std::int64_t step = 0;
  std::map<std::string, File> files;

  [[nodiscard]] std::string text() const;
  /// Throws DataError naming `path`: damaged, of another byte order or of a newer schema.
  static Manifest parse(const std::string& text, const std::string& path);
};

}  // namespace penstock::detail
