#include "penstock/domains/booking/neural/model.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "penstock/core/base/errors.h"
#include "unit/domains/booking/neural/support.h"

using namespace penstock;
using namespace penstock::booking;
using namespace penstock::booking::test;

namespace {

std::string temporary(const char* name) {
  return (std::filesystem::temp_directory_path() / name).string();
}

std::string complaint_about(const std::string& path) {
  try {
    Model::load(path);
  } catch (const Error& error) { return error.what(); }
  return "none";
}

}  // namespace

TEST_CASE("a model comes back from its file") {
  const std::string path = temporary("penstock_model_test.safetensors");
  Model model = small_model();
  model.notes = {{"seed", "7"}};
  model.save(path);
  const Model back = Model::load(path);
  CHECK(back.shape() == model.shape());
  CHECK(std::ranges::equal(back.weights(), model.weights()));
  CHECK(back.notes == model.notes);
  std::filesystem::remove(path);
}

TEST_CASE("weights are a function of the seed") {
  CHECK(std::ranges::equal(small_model(1).weights(), small_model(1).weights()));
  CHECK_FALSE(std::ranges::equal(small_model(1).weights(), small_model(2).weights()));
}

TEST_CASE("what is not a model says how one is made") {
  CHECK(complaint_about("/nowhere/model.safetensors").find("oracle train") != std::string::npos);
  const std::string path = temporary("penstock_no_model_test.safetensors");
  const Model model = small_model();
  model.save(path);
  std::string bytes;
  {
    std::ifstream in(path, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = bytes;
    changed.replace(changed.find(from), from.size(), to);
    std::ofstream(path, std::ios::binary) << changed;
    return complaint_about(path);
  };
  CHECK(with("oracle 1", "oracle 0").find("of this version; `penstock booking oracle train") !=
        std::string::npos);
  CHECK(with("embed.weight", "umbed.weight").find("lacks embed.weight") != std::string::npos);
  CHECK(with("\"hidden\":\"32\"", "\"hidden\":\"48\"").find("another shape") != std::string::npos);
  std::filesystem::remove(path);
}
