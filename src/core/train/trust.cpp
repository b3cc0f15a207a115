#include "penstock/core/train/trust.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>

#include "core/train/hmac.h"
#include "penstock/core/base/errors.h"

namespace penstock {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMark = "# signed on this machine: ";
constexpr std::size_t kKeyBytes = 32;

/// Empty where the user has no home.
fs::path key_path() {
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && *state == '/') { return fs::path(state) / "penstock/key"; }
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home == '/') { return fs::path(home) / ".local/state/penstock/key"; }
  return {};
}

/// A key that others can read or write, or a file that is none, proves nothing.
std::string read_key(const fs::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) { return {}; }
  struct stat info {};
  std::string key(kKeyBytes, '\0');
  const bool ours = ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
                    info.st_uid == ::geteuid() && (info.st_mode & 077) == 0;
  const bool whole = ours && info.st_size == static_cast<off_t>(kKeyBytes) &&
                     ::read(fd, key.data(), kKeyBytes) == static_cast<ssize_t>(kKeyBytes);
  ::close(fd);
  return whole ? key : std::string();
}

bool write_key(const std::string& path) {
  std::array<char, kKeyBytes> key{};
  if (::getrandom(key.data(), key.size(), 0) != static_cast<ssize_t>(key.size())) { return false; }
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) { return false; }
  const bool whole =
      ::write(fd, key.data(), key.size()) == static_cast<ssize_t>(key.size()) && ::fsync(fd) == 0;
  ::close(fd);
  return whole;
}

/// Two processes may make one at the same time: the first name wins, and no half key has it.
void make_key(const fs::path& path) {
  std::error_code ignored;
  fs::create_directories(path.parent_path(), ignored);
  const std::string own = fmt::format("{}.{}", path.string(), ::getpid());
  if (write_key(own)) { fs::create_hard_link(own, path, ignored); }
  fs::remove(own, ignored);
}

std::string machine_key() {
  const fs::path path = key_path();
  if (path.empty()) { return {}; }
  if (std::error_code ignored; !fs::exists(fs::symlink_status(path, ignored))) { make_key(path); }
  return read_key(path);
}

/// Where the last line begins, if it is a signature.
std::size_t mark_in(const std::string& toml) {
  const std::size_t at = toml.rfind(kMark);
  const bool begins_line = at != std::string::npos && (at == 0 || toml[at - 1] == '\n');
  return begins_line && toml.find('\n', at) == toml.size() - 1 ? at : std::string::npos;
}

std::string text_of(const Settings& settings, const char* path) {
  const Setting* setting = settings.find(path);
  return setting == nullptr ? "" : setting->text;
}

/// To import a module is to run its code.
bool names_module(const std::string& id) { return id.find(':') != std::string::npos; }

void require_word(const std::string& dir, const std::string& id, const Trust& trust) {
  if (!names_module(id) || trust.anyway || trust.env_id == id) { return; }
  throw DataError(fmt::format(
      "{}: this user did not make the run on this machine, and it names the Python env {}, whose "
      "code would run. If you trust it, say --trust or --env {} (in Python: trust=True)",
      dir, id, id));
}

Settings without_interpreter(const Settings& settings, const Note& note) {
  Settings out;
  for (const Setting& setting : settings.all()) {
    if (setting.path != "env.python") {
      out.append(setting);
    } else if (!setting.text.empty()) {
      note(
          fmt::format("the run's interpreter {} is not used, as its directory was not made by this "
                      "user on this machine; if it is needed, say --python {}",
                      setting.text, setting.text));
    }
  }
  return out;
}

}  // namespace

std::string signed_config(const std::string& toml) {
  const std::string key = machine_key();
  if (key.empty()) { return toml; }
  return fmt::format("{}{}{}\n", toml, kMark, detail::hmac_sha1(key, toml));
}

bool is_signed(const std::string& toml) {
  const std::size_t at = mark_in(toml);
  const fs::path path = key_path();
  if (at == std::string::npos || path.empty()) { return false; }
  const std::string key = read_key(path);
  const std::string told = toml.substr(at + kMark.size(), toml.size() - at - kMark.size() - 1);
  return !key.empty() && told == detail::hmac_sha1(key, toml.substr(0, at));
}

Settings recorded_config(const RunDir& dir, const Trust& trust, const Note& note) {
  const std::string toml = dir.read("config.toml");
  Settings settings;
  settings.add_toml(toml, "config.toml");
  const std::string id = text_of(settings, "env.id");
  if (!trust.env_id.empty() && trust.env_id != id) {
    throw UsageError(fmt::format("--env {}: the run's env is {}", trust.env_id, id));
  }
  if (is_signed(toml)) { return settings; }
  require_word(dir.path(), id, trust);
  settings = without_interpreter(settings, note);
  if (names_module(id) && trust.env_id.empty()) {
    settings.add("env.only_classes", "true", "--trust");
  }
  return settings;
}

}  // namespace penstock
