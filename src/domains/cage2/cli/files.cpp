#include "domains/cage2/cli/files.h"

#include <fmt/format.h>

#include <filesystem>

#include "penstock/core/base/errors.h"

namespace penstock::cage2 {

void make_folder(const std::string& path, const std::string& option) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) {
    throw IoError(fmt::format("{} {}: {}; choose another folder", option, path, error.message()),
                  Exit::cannot_create);
  }
}

}  // namespace penstock::cage2
