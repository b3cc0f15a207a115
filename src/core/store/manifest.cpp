#include "core/store/manifest.h"

#include <fmt/format.h>

#include <bit>

#include "penstock/core/base/json_value.h"
#include "penstock/core/store/safetensors.h"

namespace penstock::detail {
namespace {

constexpr const char* kByteOrder = std::endian::native == std::endian::little ? "little" : "big";

// The manifest's own checksum is its last member and covers every byte before it.
std::string closing(std::string_view body) {
  return fmt::format("\"xxh3\": \"{}\"\n}}\n", xxh3_hex(bytes_of(body)));
}

bool is_whole(std::string_view text) {
  const auto last = text.rfind("\"xxh3\"");
  return last != std::string_view::npos && text.substr(last) == closing(text.substr(0, last));
}

void check_compatible(const Json& root, const std::string& path) {
  const auto schema = root.at("schema").get<std::int64_t>();
  if (schema > kCheckpointSchema) {
    throw NewerSchemaError(fmt::format(
        "{}: schema {} is newer than the {} that this version reads; use a newer Penstock", path,
        schema, kCheckpointSchema));
  }
  const auto order = root.at("endianness").get<std::string>();
  if (order != kByteOrder) {
    throw DataError(fmt::format("{}: written on a {}-endian machine, this one is {}-endian", path,
                                order, kByteOrder));
  }
}

// Only names that save() gives: a checkpoint from elsewhere must not reach other files.
void check_file_name(const std::string& name, const std::string& path) {
  const bool plain = name.find('/') == std::string::npos;
  if (!plain || !(name == "state.json" || name.ends_with(".safetensors"))) {
    throw DataError(fmt::format("{}: '{}' is not a file of a checkpoint", path, name));
  }
}

Manifest from_json(const Json& root, const std::string& path) {
  check_compatible(root, path);
  Manifest manifest;
  manifest.step = root.at("step").get<std::int64_t>();
  for (const auto& [name, file] : root.at("files").items()) {
    check_file_name(name, path);
    manifest.files[name] = {.size = file.at("size").get<std::uint64_t>(),
                            .xxh3 = file.at("xxh3").get<std::string>(),
                            .tensors = {}};
  }
  for (const auto& [name, tensors] : root.at("tensors").items()) {
    manifest.files.at(name).tensors = tensors.get<std::map<std::string, std::string>>();
  }
  return manifest;
}

}  // namespace

std::string Manifest::text() const {
  Json root{{"schema", kCheckpointSchema}, {"endianness", kByteOrder}, {"step", step}};
  root["files"] = Json::object();
  root["tensors"] = Json::object();
  for (const auto& [name, file] : files) {
    root["files"][name] = {{"size", file.size}, {"xxh3", file.xxh3}};
    if (!file.tensors.empty()) { root["tensors"][name] = file.tensors; }
  }
  std::string body = to_text(root, 2);
  body.resize(body.rfind("\n}"));
  body += ",\n  ";
  return body + closing(body);
}

Manifest Manifest::parse(const std::string& text, const std::string& path) {
  if (!is_whole(text)) { throw DataError(path + ": is damaged"); }
  try {
    return from_json(parse_json(text), path);
  } catch (const Json::exception& error) {
    throw DataError(fmt::format("{}: {}", path, error.what()));
  } catch (const std::out_of_range&) {
    throw DataError(path + ": lists tensors of a file that it does not list");
  }
}

}  // namespace penstock::detail
