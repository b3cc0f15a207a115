#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::cage2 {

/// An array of whole numbers as NumPy saves it, in C order.
struct NpyArray {
  std::string name;  // in the archive, without ".npy"
  bool is_signed = false;
  std::size_t item_size = 1;  // 1, 2, 4 or 8 bytes
  std::vector<std::size_t> shape;
  std::vector<std::byte> items;  // little-endian

  [[nodiscard]] std::size_t size() const { return items.size() / item_size; }
  /// Item i in the order of memory, widened to 64 bits. Nothing checks i.
  [[nodiscard]] std::int64_t operator[](std::size_t i) const;
};

/// Reads the bytes of a .npy file. Throws DataError, naming `name`, when they are anything else
/// than a little-endian array of whole numbers in C order.
NpyArray parse_npy(std::span<const std::byte> bytes, const std::string& name);

/// The bytes of a .npy file.
std::vector<std::byte> format_npy(const NpyArray& array);
/// Writes a .npz file, deflated. Throws UsageError when Npz would refuse so much, IoError.
void save_npz(const std::string& path, const std::vector<NpyArray>& arrays);

/// The arrays of a .npz file, stored or deflated.
class Npz {
 public:
  /// Throws IoError when the file cannot be read, DataError when it is not such an archive.
  static Npz read(const std::string& path);
  /// The same from memory; `name` is what errors begin with. The bytes are copied.
  static Npz parse(std::span<const std::byte> bytes, const std::string& name);

  /// Throws DataError when the array is missing.
  [[nodiscard]] const NpyArray& at(std::string_view array) const;
  [[nodiscard]] const std::vector<NpyArray>& arrays() const { return arrays_; }

 private:
  std::string name_;
  std::vector<NpyArray> arrays_;
};

}  // namespace penstock::cage2
