#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <set>
#include <thread>

#include "penstock/app/fleet/fleet.h"
#include "penstock/core/base/json_value.h"
#include "penstock/core/store/journal.h"

namespace penstock::fleet {
namespace {

/// Trials of many machines append to one journal: each holds it for an instant.
Journal open_journal(const std::string& path, const std::string& header) {
  using namespace std::chrono_literals;
  constexpr int kTries = 3000;
  for (int tries = 0;; ++tries) {
    try {
      return Journal(path, header);
    } catch (const IoError& error) {
      if (error.exit() != Exit::cannot_create || tries == kTries) { throw; }
      std::this_thread::sleep_for(20ms);
    }
  }
}

OrderedJson json_of(const Entry& entry) {
  OrderedJson json = {{"trial", entry.trial}, {"stage", entry.stage}, {"exit", entry.exit}};
  if (entry.exit != 0) {
    json["error"] = entry.error;
    return json;
  }
  json["steps"] = entry.steps;
  json["score"] = std::isfinite(entry.score) ? OrderedJson(entry.score) : OrderedJson();
  if (!entry.digest.empty()) { json["digest"] = entry.digest; }
  return json;
}

Entry entry_of(const OrderedJson& json) {
  Entry entry{.trial = json.at("trial").get<std::size_t>(),
              .stage = json.at("stage").get<Stage>(),
              .exit = json.at("exit").get<std::int64_t>()};
  entry.error = json.value("error", "");
  entry.digest = json.value("digest", "");
  entry.steps = json.value("steps", std::int64_t{0});
  const OrderedJson score = json.value("score", OrderedJson());
  entry.score = score.is_number() ? score.get<double>() : std::nan("");
  return entry;
}

std::vector<Entry> read_entries(const Journal& journal, const std::string& path) {
  std::vector<Entry> entries;
  std::size_t number = 1;
  for (const std::string& line : journal.lines()) {
    ++number;
    try {
      const OrderedJson json = parse_ordered_json(line);
      if (json.contains("forget")) {
        std::erase_if(entries, [](const Entry& entry) { return entry.exit != 0; });
      } else if (json.contains("trial")) {
        entries.push_back(entry_of(json));
      }
    } catch (const Json::exception&) {
      throw DataError(
          fmt::format("{}: line {} is damaged; choose another folder with --out", path, number));
    }
  }
  return entries;
}

void require_same(const std::string& path, const std::string& found, const std::string& wanted) {
  if (found == wanted) { return; }
  const OrderedJson there = try_parse_ordered_json(found);
  const OrderedJson asked = parse_ordered_json(wanted);
  std::string what = "it is not a fleet's ledger";
  for (const auto& [key, value] : asked.items()) {
    if (!there.is_object() || !there.contains("ledger")) { break; }
    if (there.value(key, OrderedJson()) != value) {
      what = fmt::format("its trials have other {}", key);
      break;
    }
  }
  throw ConfigError(fmt::format("{}: {}; choose another folder with --out", path, what));
}

}  // namespace

Folder::Folder(const std::string& path, const Fleet& fleet)
    : path_(std::filesystem::absolute(path)), header_(fleet.identity()) {
  const Journal journal = open_journal(path_ + "/ledger.jsonl", header_);
  require_same(path_ + "/ledger.jsonl", journal.header(), header_);
  std::filesystem::create_directories(path_ + "/logs");
}

std::string Folder::trial_dir(std::size_t trial) const {
  return fmt::format("{}/trials/{}", path_, trial);
}

std::string Folder::log_of(std::size_t trial) const {
  return fmt::format("{}/logs/{}.log", path_, trial);
}

std::vector<Entry> Folder::entries() const {
  const std::string path = path_ + "/ledger.jsonl";
  return read_entries(open_journal(path, header_), path);
}

void Folder::append(const Entry& entry) const {
  const std::string path = path_ + "/ledger.jsonl";
  Journal journal = open_journal(path, header_);
  for (const Entry& there : read_entries(journal, path)) {
    if (there.trial == entry.trial && there.stage == entry.stage) { return; }
  }
  journal.append(to_text(json_of(entry)));
}

void Folder::forget_failures() const {
  open_journal(path_ + "/ledger.jsonl", header_).append(R"({"forget":"failures"})");
}

std::vector<std::string> Folder::batch_jobs() const {
  std::vector<std::string> ids;
  const Journal journal = open_journal(path_ + "/ledger.jsonl", header_);
  for (const std::string& line : journal.lines()) {
    const OrderedJson json = try_parse_ordered_json(line);
    if (json.is_object() && json.contains("job")) { ids.push_back(json["job"]); }
  }
  return ids;
}

void Folder::append_batch_job(const std::string& id) const {
  open_journal(path_ + "/ledger.jsonl", header_).append(to_text(OrderedJson{{"job", id}}));
}

}  // namespace penstock::fleet
