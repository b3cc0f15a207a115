#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "penstock/core/act/policy_model.h"
#include "penstock/core/store/safetensors.h"

namespace penstock::detail {

/// What a policy file says beside its numbers.
struct PolicyHeader {
  std::shared_ptr<const PolicyShape> shape;
  std::int64_t version = 0;
};

/// The metadata of a policy file: "penstock.policy" is a JSON document (docs/formats.md).
std::map<std::string, std::string> write_header(const PolicyShape& shape, std::int64_t version);
/// Throws DataError that names the file.
PolicyHeader read_header(const Safetensors& file, const std::string& path);

}  // namespace penstock::detail
