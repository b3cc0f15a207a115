#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>

#include "penstock/core/base/errors.h"
#include "penstock/domains/booking/neural/features.h"
#include "penstock/domains/booking/neural/neural_oracle.h"

namespace penstock::booking {
namespace {

namespace fs = std::filesystem;

/// Reads a model once, however many envs ask for it.
std::shared_ptr<const PackedModel> shared_model(const std::string& path) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<const PackedModel>> known;
  const std::scoped_lock lock(mutex);
  std::weak_ptr<const PackedModel>& entry = known[path];
  std::shared_ptr<const PackedModel> model = entry.lock();
  if (!model) {
    model = pack(Model::load(path));
    entry = model;
  }
  return model;
}

}  // namespace

std::string model_path(const std::string& file) {
  if (const char* given = std::getenv("PENSTOCK_MODELS")) {
    return (fs::path(given) / file).string();
  }
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  // An install tree, a build tree inside the source tree, or the current directory.
  for (const fs::path& dir : {program / "../share/penstock/models", program / "../../models",
                              program / "../models", program / "../../../models"}) {
    if (fs::exists(dir / file, ignored)) { return (dir / file).lexically_normal().string(); }
  }
  return (fs::path("models") / file).string();
}

std::unique_ptr<RoutingOracle> make_any_oracle(std::string_view name) {
  const std::size_t colon = name.find(':');
  constexpr std::string_view kOrInsertion = "+insertion";
  std::string_view kind = name.substr(0, colon);
  if (!kind.starts_with("neural")) { return make_search_oracle(name); }
  const bool or_insertion = kind.ends_with(kOrInsertion);
  if (or_insertion) { kind.remove_suffix(kOrInsertion.size()); }
  if (kind != "neural" && kind != "neural-8") {
    throw UsageError(
        fmt::format("oracle '{}': expected neural or neural-8, then optionally +insertion, then "
                    "optionally :FILE",
                    name));
  }
  const std::string path = colon == std::string_view::npos ? model_path(kDefaultModel)
                                                           : std::string(name.substr(colon + 1));
  return std::make_unique<NeuralOracle>(
      shared_model(path),
      NeuralOptions{.flips = kind == "neural" ? 1 : kFlips, .or_insertion = or_insertion});
}

}  // namespace penstock::booking
