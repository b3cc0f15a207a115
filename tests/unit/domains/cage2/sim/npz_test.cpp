#include "penstock/domains/cage2/sim/npz.h"

#include <doctest/doctest.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/random.h"

namespace penstock::cage2::npz_test {
namespace {

const std::string kFile = PENSTOCK_TEST_DATA "/cage2/returns/bline-sleep.npz";

std::vector<std::byte> bytes_of(const std::string& text) {
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}
std::vector<std::byte> file_bytes() {
  std::ifstream file(kFile, std::ios::binary);
  return bytes_of({std::istreambuf_iterator<char>(file), {}});
}
/// A .npy file of version 1.
std::vector<std::byte> npy(const std::string& header, const std::string& items) {
  const std::string length = {static_cast<char>(header.size()), '\0'};
  return bytes_of(std::string("\x93NUMPY\x01\0", 8) + length + header + items);
}

TEST_CASE("arrays that NumPy saved are read") {
  const Npz npz = Npz::read(kFile);
  const NpyArray& returns = npz.at("ret10");
  CHECK(returns.shape == std::vector<std::size_t>{750, 3});
  CHECK(returns.item_size == 4);
  CHECK(returns.size() == 2250);
  for (std::size_t i = 0; i < 750; ++i) {
    REQUIRE(returns[3 * i] <= 0);
    REQUIRE(returns[3 * i + 2] <= returns[3 * i + 1]);
  }
  CHECK_THROWS_AS(static_cast<void>(npz.at("nothing")), DataError);
}

TEST_CASE("numbers of every width") {
  const std::string ending = ", 'fortran_order': False, 'shape': (2,), }";
  const NpyArray one = parse_npy(npy("{'descr': '|u1'" + ending, "\x01\xFF"), "x");
  CHECK(one[1] == 255);
  const NpyArray two =
      parse_npy(npy("{'descr': '<i2'" + ending, std::string("\x01\0\xFF\xFF", 4)), "x");
  CHECK(two[0] == 1);
  CHECK(two[1] == -1);
}

TEST_CASE("arrays that are something else are refused") {
  const auto refused = [](const std::string& header, const std::string& items) {
    CHECK_THROWS_AS(parse_npy(npy(header, items), "x"), DataError);
  };
  refused("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", "abcd");
  refused("{'descr': '>i2', 'fortran_order': False, 'shape': (1,), }", "ab");
  refused("{'descr': '<i2', 'fortran_order': True, 'shape': (1,), }", "ab");
  refused("{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }", "ab");
  refused("{'descr': '<i2', 'fortran_order': False, 'shape': (x,), }", "ab");
  refused("{'descr': '<i2', 'fortran_order': False, 'shape': 1 }", "ab");
  refused("{'fortran_order': False, 'shape': (1,), }", "ab");
  refused("{'descr': '<i8', 'fortran_order': False, 'shape': (99999999999, 99999999999), }", "ab");
  CHECK_THROWS_AS(parse_npy(bytes_of("no array"), "x"), DataError);
}

TEST_CASE("a file cut short or damaged is refused or read whole, never past its end") {
  const std::vector<std::byte> good = file_bytes();
  for (std::size_t size = 0; size < good.size(); ++size) {
    CHECK_THROWS_AS(Npz::parse(std::span(good).first(size), "cut"), DataError);
  }
  Random random(1);
  int refused = 0;
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::vector<std::byte> bad = good;
    bad[i] ^= static_cast<std::byte>(1 + random.below(255));
    try {
      Npz::parse(bad, "damaged");
    } catch (const DataError&) { ++refused; }
  }
  CHECK(refused > static_cast<int>(good.size() * 8 / 10));
}

}  // namespace
}  // namespace penstock::cage2::npz_test
