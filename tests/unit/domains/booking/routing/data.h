#pragma once
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace penstock::booking {

/// The folder of benchmarks, $PENSTOCK_ROUTING_DATA or the build's; it may be absent.
inline std::filesystem::path data_folder() {
  const char* told = std::getenv("PENSTOCK_ROUTING_DATA");
  return told != nullptr ? told : PENSTOCK_ROUTING_DATA;
}

/// The files of a folder of benchmarks in order, none when it is absent.
inline std::vector<std::filesystem::path> data_files(const std::string& folder,
                                                     const std::string& extension) {
  std::vector<std::filesystem::path> files;
  std::error_code absent;
  for (const auto& entry : std::filesystem::directory_iterator(data_folder() / folder, absent)) {
    if (entry.path().extension() == extension) { files.push_back(entry.path()); }
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace penstock::booking
