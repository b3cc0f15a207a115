#include "penstock/core/store/safetensors.h"

#include <doctest/doctest.h>

#include <numeric>

#include "penstock/core/base/random.h"
#include "support.h"
#include "support/allocations.h"

namespace safetensors_test {

using namespace penstock;
using namespace penstock::test;

namespace {

std::string file_with(const std::string& header, std::size_t data_size,
                      std::uint64_t claimed_size = 0) {
  const std::uint64_t size = claimed_size != 0 ? claimed_size : header.size();
  return std::string(reinterpret_cast<const char*>(&size), sizeof(size)) + header +
         std::string(data_size, '\0');
}

std::string tensor(const std::string& name, const std::string& shape, const std::string& offsets,
                   const std::string& dtype = "F32") {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape +
         ",\"data_offsets\":" + offsets + "}";
}

std::string refusal(const std::string& file) {
  std::vector<std::byte> bytes = to_bytes(file);
  largest_allocation();
  const std::string message = error_of([&] { Safetensors::parse(std::move(bytes), "m"); });
  CHECK(largest_allocation() < 1'000'000);
  return message;
}

std::vector<std::byte> random_bytes(Random& random, std::size_t size, bool boolean) {
  std::vector<std::byte> bytes(size);
  for (std::byte& b : bytes) { b = static_cast<std::byte>(random.below(boolean ? 2 : 256)); }
  return bytes;
}

struct RandomTensors {
  explicit RandomTensors(Random& random) {
    const std::size_t num_tensors = random.below(6);
    for (std::size_t i = 0; i < num_tensors; ++i) {
      const auto dtype = static_cast<Dtype>(random.below(6));
      std::vector<std::int64_t> shape(random.below(4));
      std::size_t size = size_of(dtype);
      for (std::int64_t& n : shape) { size *= static_cast<std::size_t>(n = random.below(5)); }
      memory.push_back(random_bytes(random, size, dtype == Dtype::boolean));
      views.push_back({"net." + std::to_string(i) + "\"\n\xc3\xa9", dtype, shape, memory.back()});
    }
  }

  std::vector<std::vector<std::byte>> memory;
  std::vector<TensorView> views;
};

void check_equal(const TensorView& a, const TensorView& b) {
  CHECK(a.name == b.name);
  CHECK(a.dtype == b.dtype);
  CHECK(a.shape == b.shape);
  CHECK(std::equal(a.data.begin(), a.data.end(), b.data.begin(), b.data.end()));
}

}  // namespace

TEST_CASE("what is written is read back, in the same order and aligned to its elements") {
  Random random(7);
  for (int trial = 0; trial < 300; ++trial) {
    const RandomTensors tensors(random);
    const std::map<std::string, std::string> metadata{{"format", "pt"}};
    const auto bytes = to_safetensors(tensors.views, metadata);
    const std::size_t data_size =
        std::accumulate(tensors.memory.begin(), tensors.memory.end(), std::size_t{0},
                        [](std::size_t sum, const auto& memory) { return sum + memory.size(); });
    CHECK((bytes.size() - data_size) % 64 == 0);

    const Safetensors file = Safetensors::parse(bytes, "m");
    CHECK(file.metadata() == metadata);
    REQUIRE(file.tensors().size() == tensors.views.size());
    for (std::size_t i = 0; i < tensors.views.size(); ++i) {
      check_equal(file.tensors()[i], tensors.views[i]);
      const auto address = reinterpret_cast<std::uintptr_t>(file.tensors()[i].data.data());
      CHECK(address % size_of(file.tensors()[i].dtype) == 0);
    }
  }
}

TEST_CASE("the views survive a move") {
  const std::vector<float> values{1, 2, 3};
  const TensorView view{"a", Dtype::f32, {3}, std::as_bytes(std::span(values))};
  Safetensors first = Safetensors::parse(to_safetensors(std::span(&view, 1)), "m");
  const Safetensors second = std::move(first);
  check_equal(second.at("a"), view);
}

TEST_CASE("a file is replaced by tensors that are read back") {
  const TempDir dir;
  const std::vector<float> values{1, 2, 3};
  const TensorView view{"a", Dtype::f32, {3}, std::as_bytes(std::span(values))};
  spill(dir / "m", "old");
  save_safetensors(dir / "m", std::span(&view, 1), {{"format", "pt"}});
  const Safetensors file = Safetensors::read(dir / "m");
  check_equal(file.at("a"), view);
  CHECK(file.metadata() == std::map<std::string, std::string>{{"format", "pt"}});
}

TEST_CASE("an unknown tensor is refused with the nearest name") {
  const TensorView view{"actor.0.weight", Dtype::f32, {0}, {}};
  const Safetensors file = Safetensors::parse(to_safetensors(std::span(&view, 1)), "m.safetensors");
  const std::string message = error_of([&] { (void)file.at("actor.0.weigth"); });
  CHECK(message ==
        "m.safetensors: the tensor 'actor.0.weigth' is missing, did you mean 'actor.0.weight'?");
}

TEST_CASE("our own mistakes are failed checks") {
  const std::vector<float> values{1, 2, 3};
  const auto data = std::as_bytes(std::span(values));
  const TensorView wrong_size{"a", Dtype::f32, {2}, data};
  const std::vector<TensorView> twice{{"a", Dtype::f32, {3}, data}, {"a", Dtype::f32, {3}, data}};
  CHECK_THROWS_AS(to_safetensors(std::span(&wrong_size, 1)), std::logic_error);
  CHECK_THROWS_AS(to_safetensors(twice), std::logic_error);
}

TEST_CASE("fault 26: hostile headers are refused by name and before memory is asked for") {
  const std::string a = tensor("a", "[1]", "[0,4]");
  const auto one = [](const std::string& entry) {
    return refusal(file_with("{" + entry + "}", 4));
  };

  CHECK(contains(refusal("short"), "not a safetensors file"));
  CHECK(contains(refusal(file_with("{}", 0, 1ULL << 63)), "claims 9223372036854775808 bytes"));
  CHECK(contains(refusal(file_with("{}", 0, ~0ULL)), "claims"));
  CHECK(contains(refusal(file_with("{}", 0, 99'000'000)), "claims"));
  CHECK(contains(one(tensor("a", "[9223372036854775808]", "[0,4]")), "'a': a size beyond"));
  CHECK(contains(one(tensor("a", "[4611686018427387904,4]", "[0,4]")), "'a' has a shape"));
  CHECK(contains(one(tensor("a", "[4611686018427387905]", "[0,4]")), "'a' has a shape"));
  CHECK(contains(one(tensor("a", "[-1]", "[0,4]")), "'a': the negative number -1"));
  CHECK(contains(one(tensor("a", "[1]", "[-4,4]")), "'a': the negative number -4"));
  CHECK(contains(one(tensor("a", "[1.0]", "[0,4]")), "'a': the number 1.0"));
  CHECK(contains(one(tensor("a", "[1]", "[4,0]")), "'a' spans bytes 4 to 0"));
  CHECK(contains(one(tensor("a", "[2]", "[0,8]")), "'a' spans bytes 0 to 8 of 4"));
  CHECK(contains(one(tensor("a", "[1]", "[0,18446744073709551615]")), "'a' spans"));
  CHECK(contains(one(tensor("a", "[2]", "[0,4]")), "'a' has a shape"));
  CHECK(contains(one(tensor("a", "[1]", "[0,4,8]")), "'a': more than two"));
  CHECK(contains(one(tensor("a", "[1]", "[0]")), "'a': data_offsets are not two"));
  CHECK(contains(one(tensor("a", "[1]", "[0,4]", "BF16")), "'a': dtype BF16 is not one of F32"));
  CHECK(contains(one(a + "," + a), "'a' is there twice"));
  CHECK(contains(one(a + "," + tensor("b", "[1]", "[0,4]") + "," + a), "'a' is there twice"));
  CHECK(contains(one(a + "," + tensor("b", "[1]", "[0,4]")), "overlaps"));
  CHECK(contains(one(tensor("a", "[0]", "[2,2]")), "leaves a hole"));
  CHECK(contains(one(""), "4 bytes belong to no tensor"));
  CHECK(contains(one("\"a\":{\"dtype\":\"F32\",\"shape\":[1]}"), "'a': needs"));
  CHECK(contains(one("\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\"}"), "'a': 'dtype' twice"));
  CHECK(contains(one("\"a\":[1]"), "'a': a list"));
  CHECK(contains(one("\"a\":1"), "'a': a number"));
  CHECK(contains(one("\"__metadata__\":{\"a\":1}"), "a number where none belongs"));
  CHECK(contains(one("\"__metadata__\":{\"a\":\"1\",\"a\":\"2\"}"), "'a' twice"));
}

TEST_CASE("a header that is not JSON, or nested without end, is refused") {
  CHECK(contains(refusal(file_with("[]", 0)), "not a JSON object"));
  CHECK(contains(refusal(file_with(" {}", 0)), "not a JSON object"));
  CHECK(contains(refusal(file_with(std::string("{}\0", 3), 0)), "not a JSON object"));
  CHECK(contains(refusal(file_with("{", 0)), "not JSON at byte"));
  CHECK(contains(refusal(file_with("{\"\xff\":1}", 0)), "not JSON at byte"));
  std::string deep;
  for (int i = 0; i < 100'000; ++i) { deep += "{\"a\":"; }
  CHECK(contains(refusal(file_with(deep, 0)), "an object where a value belongs"));
  CHECK(
      contains(refusal(file_with("{\"a\":{\"shape\":" + std::string(100'000, '['), 0)), "a list"));
  std::string ranks = "[1";
  for (int i = 0; i < 100; ++i) { ranks += ",1"; }
  CHECK(
      contains(refusal(file_with("{" + tensor("a", ranks + "]", "[0,4]") + "}", 4)), "dimensions"));
}

TEST_CASE("bytes that are not booleans are refused") {
  std::string file = file_with("{" + tensor("done", "[2]", "[0,2]", "BOOL") + "}", 2);
  CHECK(refusal(file) == "");
  file.back() = 2;
  CHECK(contains(refusal(file), "'done' has bytes that are not booleans"));
}

TEST_CASE(
    "a file cut at any length is refused, and no single flipped bit is more than a DataError") {
  const std::vector<float> values{1, 2, 3};
  const std::vector<TensorView> views{
      {"a", Dtype::f32, {3}, std::as_bytes(std::span(values))},
      {"b", Dtype::u8, {4}, std::as_bytes(std::span(values).first(1))}};
  const std::vector<std::byte> whole = to_safetensors(views);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::vector<std::byte> cut(whole.begin(),
                                     whole.begin() + static_cast<std::ptrdiff_t>(size));
    CHECK_THROWS_AS(Safetensors::parse(cut, "m"), DataError);
  }
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::vector<std::byte> flipped = whole;
    flipped[bit / 8] ^= std::byte{1} << (bit % 8);
    error_of([&] { Safetensors::parse(std::move(flipped), "m"); });
  }
}

TEST_CASE("only regular files that are there are read") {
  const TempDir dir;
  CHECK_THROWS_AS(Safetensors::read(dir / "none"), IoError);
  CHECK_THROWS_AS(Safetensors::read("/dev/zero"), IoError);
  spill(dir / "sparse", "");
  fs::resize_file(dir / "sparse", std::uintmax_t{1} << 42);
  largest_allocation();
  CHECK_THROWS_AS(Safetensors::read(dir / "sparse"), IoError);
  CHECK(largest_allocation() < 1'000'000);
}

TEST_CASE("xxh3 of known bytes") {
  CHECK(xxh3_hex({}) == "2d06800538d394c2");  // the reference implementation's value
  CHECK(xxh3_hex(to_bytes("a")) != xxh3_hex(to_bytes("b")));
}

}  // namespace safetensors_test
