#include "penstock/domains/cage2/sim/replay.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "domains/cage2/sim/recording.h"
#include "penstock/core/base/errors.h"
#include "penstock/domains/cage2/sim/npz.h"

namespace penstock::cage2 {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxExamples = 5;
struct Recording {
  std::string name;
  std::string red;
  NpyArray blue;    // [episodes, steps]
  NpyArray obs;     // [episodes, steps, 7]
  NpyArray obs2;    // the same
  NpyArray reward;  // [episodes, steps], times ten
  NpyArray info;    // [episodes, steps, 131]
  std::size_t episodes = 0;
  std::size_t steps = 0;
};

void require_shape(const NpyArray& array, const std::vector<std::size_t>& shape,
                   const std::string& file) {
  if (array.shape != shape) { throw DataError(file + ": " + array.name + " has another shape"); }
}

Recording read_recording(const std::string& path) {
  const Npz npz = Npz::read(path);
  Recording r;
  r.name = fs::path(path).filename();
  r.red = r.name.substr(0, r.name.find('-'));
  r.blue = npz.at("blue");
  r.obs = npz.at("obs");
  r.obs2 = npz.at("obs2");
  r.reward = npz.at("reward10");
  r.info = npz.at("info");
  if (r.blue.shape.size() != 2) { throw DataError(path + ": blue is not [episodes, steps]"); }
  r.episodes = r.blue.shape[0];
  r.steps = r.blue.shape[1];
  require_shape(r.reward, {r.episodes, r.steps}, path);
  for (const NpyArray* array : {&r.obs, &r.obs2}) {
    require_shape(*array, {r.episodes, r.steps, kObsBytes}, path);
  }
  require_shape(r.info, {r.episodes, r.steps, kInfoSize}, path);
  if (r.red != "bline" && r.red != "meander" && r.red != "sleep") {
    throw DataError(path + ": its name does not begin with bline, meander or sleep");
  }
  return r;
}

/// One step's read-outs.
class Info {
 public:
  Info(const NpyArray& info, std::size_t row) : info_(info), first_(row * kInfoSize) {}
  [[nodiscard]] std::uint8_t operator[](std::size_t i) const { return info_[first_ + i]; }
  [[nodiscard]] HostSet hosts(std::size_t i) const { return (*this)[i] | (*this)[i + 1] << 8; }

 private:
  const NpyArray& info_;
  std::size_t first_;
};

RedMove move_of(const Info& info, const std::string& where) {
  RedMove move{.action = static_cast<RedAction>(info[column::kRedAction]),
               .target = info[column::kRedTarget],
               .exploit = info[column::kExploit],
               .detected = info[column::kDetected] == 1,
               .session = info[column::kSession]};
  const bool on_subnet = move.action == RedAction::discover_systems;
  const bool good = move.action <= RedAction::impact &&
                    (move.action == RedAction::sleep ||
                     move.target < (on_subnet ? kSubnetHosts.size() : kNumHosts));
  if (!good) { throw DataError(where + ": red's move does not exist"); }
  return move;
}

/// The first bit of a packed observation is the highest of the first byte.
ObsBits unpack_obs(const NpyArray& obs, std::size_t row) {
  ObsBits bits = 0;
  for (std::size_t i = 0; i < kObsSize; ++i) {
    const std::int64_t byte = obs[row * kObsBytes + i / 8];
    bits |= static_cast<ObsBits>(byte >> (7 - i % 8) & 1) << i;
  }
  return bits;
}

constexpr std::array<const char*, 9> kBlockNames = {
    "access",        "sessions", "privileged sessions", "removable sessions",
    "first session", "decoys",   "Vsftpd decoys",       "files",
    "known ports"};

/// Plays one recording.
class Replay {
 public:
  Replay(const Recording& recording, Source source)
      : recording_(recording), source_(source), first_(config("")), second_(config("v2")) {}

  ReplayReport run() {
    report_.files = 1;
    for (std::size_t episode = 0; episode < recording_.episodes; ++episode) {
      std::array<float, kObsSize> row{};
      first_.reset(0, {row, {}});
      second_.reset(0, {row, {}});
      for (std::size_t t = 0; t < recording_.steps; ++t) { step(episode, t); }
      ++report_.episodes;
    }
    return std::move(report_);
  }

 private:
  [[nodiscard]] Simulator::Config config(const char* wrapper) const {
    Simulator::Config config = config_of(source_);
    config.red = recording_.red;
    if (*wrapper != '\0') { config.wrapper = wrapper; }
    return config;
  }

  void step(std::size_t episode, std::size_t t) {
    row_ = episode * recording_.steps + t;
    where_ =
        recording_.name + ", episode " + std::to_string(episode) + ", step " + std::to_string(t);
    const Info info(recording_.info, row_);
    const RedMove move = move_of(info, where_);
    const std::int64_t action = recording_.blue[row_];
    const Simulator::Trace trace = first_.advance_forced(action, move);
    ++report_.steps;
    check_observations(action, move);
    check(-trace.cost_tenths == recording_.reward[row_], report_.reward_mismatches, "reward");
    check_fields(info, trace);
    check_hosts(info);
  }

  void check_observations(std::int64_t action, const RedMove& move) {
    std::int64_t& count = report_.observation_mismatches;
    check(first_.obs() == unpack_obs(recording_.obs, row_), count, "observation");
    if (source_ == Source::dbg) { return; }  // recorded with its own wrapper only
    second_.advance_forced(action, move);
    check(second_.obs() == unpack_obs(recording_.obs2, row_), count, "observation of v2");
  }

  void check_fields(const Info& info, const Simulator::Trace& trace) {
    const World& world = first_.world();
    const Knowledge& known = world.knowledge();
    field(trace.allowed, "red's choice");
    field(first_.red().stage() == info[column::kStage], "stage of bline");
    field(static_cast<std::uint8_t>(trace.blue_flag) == info[column::kBlueFlag], "Blue's flag");
    field(static_cast<std::uint8_t>(trace.red_flag) == info[column::kRedFlag], "red's flag");
    field(world.service_up() == (info[column::kServiceUp] != 0), "service up");
    field(known.service == info[column::kServiceKnown], "service known");
    field(known.addresses == info.hosts(column::kAddresses), "known addresses");
    field(known.names == info.hosts(column::kNames), "known names");
  }

  void check_hosts(const Info& info) {
    constexpr std::size_t kFiles = 7;
    std::array<bool, kBlockNames.size()> same{};
    same.fill(true);
    for (std::uint8_t h = 0; h < kNumHosts; ++h) {
      const HostReadOut ours = read_out(first_.world(), h);
      for (std::size_t b = 0; b < ours.size(); ++b) {
        std::uint8_t theirs = info[column::kHosts + kNumHosts * b + h];
        if (b == kFiles) { theirs = std::min<std::uint8_t>(theirs, 1); }
        same[b] = same[b] && ours[b] == theirs;
      }
    }
    for (std::size_t b = 0; b < same.size(); ++b) { field(same[b], kBlockNames[b]); }
  }

  void field(bool same, const char* what) { check(same, report_.field_mismatches, what); }

  void check(bool same, std::int64_t& count, const char* what) {
    if (same) { return; }
    ++count;
    if (report_.examples.size() < kMaxExamples) {
      report_.examples.push_back(where_ + ": " + what);
    }
  }

  const Recording& recording_;
  Source source_;
  Simulator first_;   // with the wrapper of the source
  Simulator second_;  // with v2
  ReplayReport report_;
  std::size_t row_ = 0;
  std::string where_;
};

/// NAME.npz with two dashes in the name: other files of the folder are none of ours.
bool is_recording(const fs::path& path) {
  const std::string stem = path.stem();
  return path.extension() == ".npz" && std::count(stem.begin(), stem.end(), '-') == 2;
}

ReplayReport replay_here(const fs::path& folder, Source source) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (is_recording(entry.path())) { files.push_back(entry.path()); }
  }
  std::sort(files.begin(), files.end());
  ReplayReport report;
  for (const fs::path& file : files) { report.add(replay_file(file, source)); }
  return report;
}

}  // namespace

Source source_of(const std::string& rules) {
  if (rules == "head") { return Source::head; }
  if (rules == "leaderboard") { return Source::leaderboard; }
  if (rules == "dbg") { return Source::dbg; }
  throw UsageError("--rules " + rules + ": expected head, leaderboard or dbg");
}

Simulator::Config config_of(Source source) {
  Simulator::Config config;
  if (source == Source::leaderboard) { config.rules = "leaderboard"; }
  if (source == Source::dbg) {
    config.wrapper = "dbg";
    config.fix_vsftpd = config.fix_smb = config.fix_mysql = true;
    config.fix_remove_flag = config.reward_user_sessions = true;
  }
  return config;
}

void ReplayReport::add(const ReplayReport& other) {
  files += other.files;
  episodes += other.episodes;
  steps += other.steps;
  observation_mismatches += other.observation_mismatches;
  reward_mismatches += other.reward_mismatches;
  field_mismatches += other.field_mismatches;
  for (const std::string& example : other.examples) {
    if (examples.size() < kMaxExamples) { examples.push_back(example); }
  }
}

ReplayReport replay_file(const std::string& path, Source source) {
  return Replay(read_recording(path), source).run();
}

ReplayReport replay_folder(const std::string& folder) {
  if (!fs::is_directory(folder)) { throw UsageError(folder + ": not a folder"); }
  const std::string name = fs::weakly_canonical(folder).filename();
  const Source here = name == "lb"    ? Source::leaderboard
                      : name == "dbg" ? Source::dbg
                                      : Source::head;
  ReplayReport report = replay_here(folder, here);
  report.add(replay_here(fs::path(folder) / "lb", Source::leaderboard));
  report.add(replay_here(fs::path(folder) / "dbg", Source::dbg));
  if (report.files == 0) {
    throw UsageError(folder + ": no recordings RED-POLICY-STEPS.npz in it, in lb or in dbg");
  }
  return report;
}

}  // namespace penstock::cage2
