#pragma once
#include <string>

namespace penstock::cage2 {

/// Throws IoError (cannot be created) that names the option and the path.
void make_folder(const std::string& path, const std::string& option);

}  // namespace penstock::cage2
