// Any bytes are either refused with a DataError or a file whose tensors can be read to the last
// byte and written again.
#include <cstdlib>
#include <cstring>

#include "penstock/core/base/errors.h"
#include "penstock/core/store/safetensors.h"
#include "safetensors_mutator.h"

namespace {

using namespace penstock;

bool same(const TensorView& a, const TensorView& b) {
  return a.name == b.name && a.dtype == b.dtype && a.shape == b.shape &&
         a.data.size() == b.data.size() &&
         (a.data.empty() || std::memcmp(a.data.data(), b.data.data(), a.data.size()) == 0);
}

// Reads every byte, so that the sanitizer sees a view that leaves the file.
void check_round_trip(const Safetensors& file) {
  const Safetensors again =
      Safetensors::parse(to_safetensors(file.tensors(), file.metadata()), "again");
  if (again.metadata() != file.metadata()) { std::abort(); }
  if (again.tensors().size() != file.tensors().size()) { std::abort(); }
  for (const TensorView& tensor : file.tensors()) {
    if (!same(tensor, again.at(tensor.name))) { std::abort(); }
  }
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max, unsigned seed) {
  fuzz::Random random(seed);
  const auto change = [&](const std::string& header, std::size_t most) {
    return fuzz::mutated(header, most, random);
  };
  return fuzz::put(fuzz::mutated_safetensors(fuzz::text_of(data, size), max, random, change), data,
                   max);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* first = reinterpret_cast<const std::byte*>(data);
  try {
    check_round_trip(Safetensors::parse({first, first + size}, "fuzz"));
  } catch (const DataError&) {
    return 0;  // any other exception is a crash
  }
  return 0;
}
