#pragma once
// A file in memory for readers that take a path.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace fuzz {

/// A folder of this process in memory, gone when it ends well.
inline const std::string& scratch_folder() {
  static const struct Folder {
    Folder() {
      std::string name = "/dev/shm/penstock-fuzz-XXXXXX";
      if (mkdtemp(name.data()) == nullptr) { std::abort(); }
      path = name;
    }
    ~Folder() { std::filesystem::remove_all(path); }
    std::string path;
  } folder;
  return folder.path;
}

inline void write_file(const std::string& path, const std::uint8_t* data, std::size_t size) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
}

}  // namespace fuzz
