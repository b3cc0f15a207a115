#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace penstock {

/// Element types that our checkpoints hold, of the many that the safetensors format knows.
enum class Dtype { f32, f64, i32, i64, u8, boolean };

/// Bytes of one element.
std::size_t size_of(Dtype dtype);

/// A named array in memory that it does not own, row-major.
struct TensorView {
  std::string name;
  Dtype dtype = Dtype::f32;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> data;
};

/// The bytes of a safetensors file that lists these tensors in this order, as any reader of the
/// format takes them. Their data starts at a multiple of 64 bytes. The format forbids padding
/// between tensors, so wide elements come first there: every tensor is aligned to its elements.
/// Names are unique and not "__metadata__".
std::vector<std::byte> to_safetensors(std::span<const TensorView> tensors,
                                      const std::map<std::string, std::string>& metadata = {});
/// The same into a file: old contents or new, at any instant. Throws IoError.
void save_safetensors(const std::string& path, std::span<const TensorView> tensors,
                      const std::map<std::string, std::string>& metadata);

/// A parsed safetensors file; owns its bytes. The parser believes nothing: header size, offsets,
/// shapes and overlaps are checked before memory is asked for. Throws DataError naming the tensor.
/// A file from elsewhere may hold its tensors at any byte: copy with memcpy, do not cast.
class Safetensors {
 public:
  Safetensors() = default;
  Safetensors(Safetensors&&) = default;  // the views point into the bytes, so it is not copied
  Safetensors& operator=(Safetensors&&) = default;

  static Safetensors parse(std::vector<std::byte> bytes, const std::string& name);
  static Safetensors read(const std::string& path);

  /// In the header's order.
  [[nodiscard]] const std::vector<TensorView>& tensors() const& { return tensors_; }
  /// Throws DataError when it is missing.
  [[nodiscard]] const TensorView& at(std::string_view tensor) const&;
  // for (auto& t : Safetensors::read(path).tensors()) would walk over freed memory.
  void tensors() && = delete;
  void at(std::string_view tensor) && = delete;
  [[nodiscard]] const std::map<std::string, std::string>& metadata() const { return metadata_; }

 private:
  std::string name_;
  std::vector<std::byte> bytes_;
  std::vector<TensorView> tensors_;
  std::vector<std::size_t> by_name_;  // places in tensors_, by alphabet
  std::map<std::string, std::string> metadata_;
};

/// XXH3-64 of bytes, as 16 hex digits.
std::string xxh3_hex(std::span<const std::byte> bytes);

}  // namespace penstock
