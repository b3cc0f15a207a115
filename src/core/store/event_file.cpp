#include "penstock/core/store/event_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <chrono>
#include <filesystem>

#include "core/store/atomic_file.h"
#include "penstock/core/base/errors.h"

namespace penstock {
namespace {

constexpr std::string_view kPrefix = "events.out.tfevents.";

constexpr std::array<std::uint32_t, 256> crc32c_table() {
  constexpr std::uint32_t kPolynomial = 0x82f63b78;  // Castagnoli, bits reversed
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    table[i] = i;
    for (int bit = 0; bit < 8; ++bit) {
      table[i] = (table[i] >> 1) ^ ((table[i] & 1) != 0 ? kPolynomial : 0);
    }
  }
  return table;
}

// Masked as the TFRecord format wants it, so that a checksum of checksums is no special value.
std::uint32_t masked_crc32c(std::string_view bytes) {
  static constexpr auto kTable = crc32c_table();
  std::uint32_t crc = ~0U;
  for (const char c : bytes) {
    crc = (crc >> 8) ^ kTable[(crc ^ static_cast<unsigned char>(c)) & 0xff];
  }
  return std::rotr(~crc, 15) + 0xa282ead8U;
}

template <class Number>
void put_raw(std::string& out, Number value) {
  static_assert(std::endian::native == std::endian::little, "the format is little-endian");
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

std::string record(const std::string& event) {
  std::string out;
  put_raw(out, static_cast<std::uint64_t>(event.size()));
  put_raw(out, masked_crc32c(out));
  out += event;
  put_raw(out, masked_crc32c(event));
  return out;
}

// The protocol buffer wire format, as far as an Event needs it.
enum Wire : std::uint64_t { kVarint = 0, kFixed64 = 1, kLength = 2, kFixed32 = 5 };

void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) { out += static_cast<char>(value | 0x80); }
  out += static_cast<char>(value);
}

void put_key(std::string& out, std::uint64_t field, Wire wire) {
  put_varint(out, field << 3 | wire);
}

void put_message(std::string& out, std::uint64_t field, std::string_view bytes) {
  put_key(out, field, kLength);
  put_varint(out, bytes.size());
  out += bytes;
}

double wall_time() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

// Event {1: wall_time, 2: step}; what it says follows.
std::string event_head(std::int64_t step) {
  std::string event;
  put_key(event, 1, kFixed64);
  put_raw(event, wall_time());
  put_key(event, 2, kVarint);
  put_varint(event, step);
  return event;
}

std::string version_event() {
  std::string event = event_head(0);
  put_message(event, 3, "brain.Event:2");
  return event;
}

// Event {5: Summary {1: Value {1: tag, 2: simple_value}}}.
std::string scalar_event(std::int64_t step, std::string_view tag, double number) {
  std::string value;
  put_message(value, 1, tag);
  put_key(value, 2, kFixed32);
  put_raw(value, static_cast<float>(number));
  std::string summary;
  put_message(summary, 1, value);
  std::string event = event_head(step);
  put_message(event, 5, summary);
  return event;
}

// Event {7: SessionLog {1: START}}.
std::string start_event(std::int64_t step) {
  constexpr std::uint64_t kStart = 1;
  std::string session;
  put_key(session, 1, kVarint);
  put_varint(session, kStart);
  std::string event = event_head(step);
  put_message(event, 7, session);
  return event;
}

std::int64_t time_in_name(std::string_view name) {
  std::int64_t time = -1;
  if (!name.starts_with(kPrefix)) { return time; }
  name.remove_prefix(kPrefix.size());
  std::from_chars(name.data(), name.data() + name.size(), time);
  return time;
}

std::string new_name(const std::string& dir) {
  auto time = static_cast<std::int64_t>(wall_time());
  for (const std::string& name : detail::names_in(dir)) {
    time = std::max(time, time_in_name(name) + 1);
  }
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) { host = {'h', 'o', 's', 't'}; }
  return fmt::format("{}{:010}.{}.{}.penstock", kPrefix, time, host.data(), ::getpid());
}

}  // namespace

struct EventFile::Output {
  detail::Fd file;

  void put(const std::string& records) { detail::append(file, detail::bytes_of(records)); }
};

EventFile::EventFile(const std::string& dir)
    : path_(fmt::format("{}/{}", dir, new_name(dir))),
      output_(new Output{detail::Fd(path_, O_WRONLY | O_CREAT | O_EXCL | O_APPEND)}) {
  try {
    output_->put(record(version_event()));
  } catch (const IoError&) {
    // A full disk still takes names: each try to begin would leave one behind.
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
    throw;
  }
}

EventFile::~EventFile() = default;

void EventFile::scalars(std::int64_t step, std::span<const std::pair<std::string, double>> values) {
  std::string records;
  for (const auto& [tag, value] : values) { records += record(scalar_event(step, tag, value)); }
  output_->put(records);
}

void EventFile::restart_at(std::int64_t step) { output_->put(record(start_event(step))); }

}  // namespace penstock
