// Writes and reads what tests/oracle/store/test_store.py holds against the Python packages.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstring>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>

#include "penstock/core/base/errors.h"
#include "penstock/core/store/run_dir.h"

namespace {

using namespace penstock;

template <class T, std::size_t N>
TensorView view(const char* name, Dtype dtype, std::vector<std::int64_t> shape,
                const std::array<T, N>& data) {
  return {name, dtype, std::move(shape), std::as_bytes(std::span(data))};
}

void save(RunDir& run, std::int64_t step) {
  static constexpr std::array<std::uint8_t, 3> kBytes{1, 2, 255};
  static constexpr std::array kFlags{true, false};
  static constexpr std::array<float, 6> kFloats{0, 1, 2, 3, 4, 0.1F};
  static constexpr std::array<double, 1> kScalar{0.1};
  static constexpr std::array<std::int32_t, 2> kInts{-1, 7};
  static constexpr std::array<std::int64_t, 1> kLong{std::numeric_limits<std::int64_t>::min()};
  CheckpointData data;
  data.tensors["model"] = {view("bytes", Dtype::u8, {3}, kBytes),
                           view("flags", Dtype::boolean, {2}, kFlags),
                           view("floats", Dtype::f32, {2, 3}, kFloats),
                           view("scalar", Dtype::f64, {}, kScalar),
                           view("ints", Dtype::i32, {2, 1}, kInts),
                           view("long", Dtype::i64, {1}, kLong),
                           {"none", Dtype::f32, {0, 4}, {}},
                           view("net.\xc3\xa9\"\n", Dtype::f32, {6}, kFloats)};
  data.state = "{}";
  run.checkpoints().save(step, data, false);
}

void log(RunDir& run, std::int64_t step, double offset) {
  const std::vector<Metric> metrics{
      {"rollout/ep_rew_mean", static_cast<double>(step) + offset},
      {"train/loss", step == 300 ? std::numeric_limits<double>::quiet_NaN() : 0.5}};
  run.log(step, metrics);
}

void start(const std::string& path) {
  RunDir run(path, RunDir::Open::fresh);
  run.write("config.toml", "");
  for (const std::int64_t step : {100, 200, 300, 400, 500}) { log(run, step, 0); }
  save(run, 300);
}

void resume(const std::string& path) {
  RunDir run(path, RunDir::Open::resume);
  run.rewind(300);
  log(run, 400, 0.25);
}

// One line per tensor: name, shape and raw bytes in hex.
void print_tensors(const std::string& path) {
  const Safetensors file = Safetensors::read(path);
  for (const TensorView& tensor : file.tensors()) {
    std::string hex;
    for (const std::byte b : tensor.data) { hex += fmt::format("{:02x}", static_cast<int>(b)); }
    const nlohmann::json line{{"name", tensor.name}, {"shape", tensor.shape}, {"hex", hex}};
    std::cout << line.dump() << '\n';
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string verb = argc == 3 ? argv[1] : "";
  try {
    if (verb == "start") { start(argv[2]); }
    if (verb == "resume") { resume(argv[2]); }
    if (verb == "tensors") { print_tensors(argv[2]); }
  } catch (const Error& error) {
    std::cerr << error.what() << '\n';
    return static_cast<int>(error.exit());
  }
  return verb == "start" || verb == "resume" || verb == "tensors" ? 0 : 2;
}
