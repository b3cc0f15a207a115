#pragma once
#include <filesystem>
#include <string>

namespace penstock::cage2 {

/// Both throw IoError (cannot be created) that names the path, the folder's also the option.
void write_file(const std::filesystem::path& path, const std::string& text);
void make_folder(const std::string& path, const std::string& option);

}  // namespace penstock::cage2
