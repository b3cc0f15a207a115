#pragma once
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "penstock/core/base/errors.h"
#include "penstock/core/store/checkpoint.h"

namespace penstock::test {

namespace fs = std::filesystem;

/// A directory that goes away with the test. In memory where possible: these tests sync thousands
/// of times, and what they prove (order of calls, state after a kill) does not depend on the
/// medium.
class TempDir {
 public:
  TempDir() {
    const bool in_memory = ::access("/dev/shm", W_OK) == 0;
    const fs::path parent = in_memory ? fs::path("/dev/shm") : fs::temp_directory_path();
    std::string pattern = (parent / "penstock-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TempDir() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline std::string slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void spill(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

inline std::vector<std::byte> to_bytes(const std::string& text) {
  std::vector<std::byte> bytes(text.size());
  if (!text.empty()) { std::memcpy(bytes.data(), text.data(), text.size()); }
  return bytes;
}

/// The message of the Error thrown, or "" when none was; other exceptions fail the test.
inline std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) { return error.what(); }
  return "";
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Tensors that all say which step they are of.
struct Sample {
  explicit Sample(std::int64_t step, std::size_t size = 3)
      : weights(size, static_cast<float>(step)), moments(2, static_cast<double>(step)) {}

  [[nodiscard]] CheckpointData data() const {
    const auto rows = static_cast<std::int64_t>(weights.size());
    CheckpointData out;
    out.tensors["model"] = {
        {"actor.0.weight", Dtype::f32, {rows, 1}, std::as_bytes(std::span(weights))},
        {"actor.0.bias", Dtype::f32, {rows}, std::as_bytes(std::span(weights))}};
    out.tensors["optim"] = {
        {"actor.0.exp_avg", Dtype::f64, {2}, std::as_bytes(std::span(moments))}};
    out.state = "{\"step\": " + std::to_string(static_cast<std::int64_t>(moments[0])) + "}";
    return out;
  }

  std::vector<float> weights;
  std::vector<double> moments;
};

/// True when every number in the checkpoint is of its step: nothing torn, nothing mixed.
inline bool is_of_one_step(const Checkpoint& checkpoint) {
  const auto every = [&]<class T>(const char* file, const char* tensor, T expected) {
    const auto data = checkpoint.tensors.at(file).at(tensor).data;
    bool same = !data.empty();
    for (std::size_t i = 0; i < data.size(); i += sizeof(T)) {
      same = same && std::memcmp(data.data() + i, &expected, sizeof(T)) == 0;
    }
    return same;
  };
  const std::string state = "{\"step\": " + std::to_string(checkpoint.step) + "}";
  return checkpoint.state == state &&
         every("model", "actor.0.weight", static_cast<float>(checkpoint.step)) &&
         every("model", "actor.0.bias", static_cast<float>(checkpoint.step)) &&
         every("optim", "actor.0.exp_avg", static_cast<double>(checkpoint.step));
}

}  // namespace penstock::test
