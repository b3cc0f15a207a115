#include "penstock/core/store/temporary_folder.h"

#include <cstdlib>

#include <filesystem>
#include <system_error>

#include "penstock/core/base/errors.h"

namespace penstock {

TemporaryFolder::TemporaryFolder()
    : path_((std::filesystem::temp_directory_path() / "penstock-XXXXXX").string()) {
  if (mkdtemp(path_.data()) == nullptr) {
    throw IoError(path_ + ": cannot be created; set TMPDIR to a folder with room",
                  Exit::cannot_create);
  }
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace penstock
