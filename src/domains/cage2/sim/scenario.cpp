#include "penstock/domains/cage2/sim/scenario.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "domains/cage2/sim/services.h"
#include "penstock/core/base/config.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/text_file.h"
#include "penstock/domains/cage2/sim/world.h"

namespace penstock::cage2 {
namespace {

constexpr std::string_view kScenario2 =
#include "domains/cage2/sim/scenarios/scenario2.toml.inc"
    ;
constexpr std::size_t kMaxName = 32;
constexpr std::uint8_t kMaxEndpoints = 32;
constexpr std::string_view kHosts = "hosts.";
constexpr std::string_view kDecoyKeys = "decoys.";
constexpr std::array<const char*, 3> kSubnetKeys = {"subnets.user", "subnets.enterprise",
                                                    "subnets.operational"};

[[noreturn]] void refuse_key(const std::string& key, const std::string& why) {
  throw ConfigError("scenario: " + key + ": " + why);
}

/// "hosts.User1.cost" has the part "User1" after "hosts.".
std::string part_after(std::string_view path, std::string_view prefix) {
  if (!path.starts_with(prefix)) { return {}; }
  path.remove_prefix(prefix.size());
  const std::size_t dot = path.find('.');
  return dot == std::string_view::npos ? std::string() : std::string(path.substr(0, dot));
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kMaxName && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

/// The words between commas, without blanks.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    std::string word(text.substr(0, comma));
    std::erase(word, ' ');
    if (!word.empty()) { words.push_back(std::move(word)); }
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
  return words;
}

/// Alphabetical, each once.
std::vector<std::string> names_in(const Settings& settings) {
  std::vector<std::string> names;
  for (const Setting& setting : settings.all()) {
    std::string name = part_after(setting.path, kHosts);
    if (name.empty()) { continue; }
    if (!is_name(name)) {
      refuse_key("hosts." + name, "a name has 1 to 32 letters, digits and underscores");
    }
    names.push_back(std::move(name));
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::string decoy_key(std::size_t number) {
  return std::string(kDecoyKeys) + std::string(decoy_name(static_cast<Decoy>(number)));
}

void append_fields(std::vector<Field>& to, std::vector<Field> more) {
  for (Field& field : more) { to.push_back(std::move(field)); }
}

Scenario scenario_from(const Settings& settings, const Scenario* base) {
  Scenario scenario;
  if (base != nullptr) { scenario.decoys = base->decoys; }
  scenario.names = names_in(settings);
  const std::size_t count = scenario.names.size();
  if (count < 2 || count > Network::kMaxHosts) {
    refuse_key("hosts", std::to_string(count) + " hosts; give 2 to 64, each as [hosts.NAME]");
  }
  scenario.hosts.resize(count);
  std::vector<Field> fields = fields_of(scenario);
  for (std::size_t h = 0; h < count; ++h) {
    append_fields(fields, fields_of(scenario.hosts[h], "hosts." + scenario.names[h] + "."));
  }
  for (std::size_t d = 0; d < kNumDecoys; ++d) {
    append_fields(fields, fields_of(scenario.decoys[d], decoy_key(d) + "."));
  }
  penstock::apply(fields, settings);
  return scenario;
}

// ---- From words to tables

/// Knows what the words of a scenario stand for.
class Builder {
 public:
  Builder(const Scenario& scenario, const Rules& rules) : from_(scenario), rules_(rules) {}

  Network build() {
    network_.num_hosts = network_.width = from_.names.size();
    network_.start = host("red.start", from_.start);
    network_.goal = host("red.goal", from_.goal);
    network_.relay = host("red.relay", from_.relay);
    network_.footholds = hosts("red.footholds", from_.footholds);
    network_.service_tenths = tenths("costs.service", from_.service_cost);
    network_.restore_tenths = tenths("costs.restore", from_.restore_cost);
    for (std::uint8_t h = 0; h < network_.num_hosts; ++h) { add_host(h); }
    for (std::size_t s = 0; s < kSubnetKeys.size(); ++s) {
      network_.gates[s] = hosts(kSubnetKeys[s], from_.opened_by[s]);
    }
    for (std::size_t d = 0; d < kNumDecoys; ++d) { network_.decoys[d] = decoy(d); }
    check_footholds();
    return network_;
  }

 private:
  void add_host(std::uint8_t number) {
    const ScenarioHost& given = from_.hosts[number];
    const std::string key = "hosts." + from_.names[number] + ".";
    if (given.subnet.empty()) {
      refuse_key(key + "subnet", "missing; give user, enterprise or operational");
    }
    const Subnet subnet = given.subnet == "user"         ? Subnet::user
                          : given.subnet == "enterprise" ? Subnet::enterprise
                                                         : Subnet::operational;
    network_.subnets[number] = subnet;
    network_.subnet_hosts[number_of(subnet)] |= Network::Set{1} << number;
    network_.services[number] = services(key, given);
    network_.leads_to[number] = hosts(key + "leads_to", given.leads_to);
    network_.set_cost(number, tenths(key + "cost", given.cost));
  }

  [[nodiscard]] HostServices services(const std::string& key, const ScenarioHost& given) const {
    ScenarioHost::Fix now{given.listens, given.exploits, given.privileged};
    if (rules_.fix_smb) { put_over(now, given.fix_smb); }
    if (rules_.fix_mysql) { put_over(now, given.fix_mysql); }
    if (now.listens.size() > kMaxEndpoints) {
      refuse_key(key + "listens", "at most 32 ports, not " + std::to_string(now.listens.size()));
    }
    HostServices services;
    for (const std::int64_t port : now.listens) { services.ports |= port_bit(key, port); }
    services.endpoints = now.listens.size();
    services.genuine = exploits(key + "exploits", now.exploits);
    services.privileged = exploits(key + "privileged", now.privileged);
    if ((services.privileged & ~services.genuine) != 0) {
      refuse_key(key + "privileged", "name exploits that are among those of exploits");
    }
    services.windows = given.system == "windows";
    services.guessable = given.guessable;
    return services;
  }

  static void put_over(ScenarioHost::Fix& now, const ScenarioHost::Fix& fix) {
    if (!fix.listens.empty()) { now.listens = fix.listens; }
    if (!fix.exploits.empty()) { now.exploits = fix.exploits; }
    if (!fix.privileged.empty()) { now.privileged = fix.privileged; }
  }

  [[nodiscard]] DecoyKind decoy(std::size_t number) const {
    const ScenarioDecoy& given = from_.decoys[number];
    const std::string key = decoy_key(number) + ".";
    const bool fixed = rules_.fix_vsftpd;
    const std::int64_t opens =
        fixed && given.fix_vsftpd.opens != 0 ? given.fix_vsftpd.opens : given.opens;
    const std::string& lures =
        fixed && !given.fix_vsftpd.lures.empty() ? given.fix_vsftpd.lures : given.lures;
    DecoyKind kind;
    kind.needs_free = aimed_port(key + "needs_free", given.needs_free);
    kind.opens = aimed_port(key + "opens", opens);
    kind.lures = lures == "none" ? std::uint8_t{0} : exploits(key + "lures", lures);
    kind.system = given.system == "windows" ? System::windows
                  : given.system == "linux" ? System::linux
                                            : System::any;
    return kind;
  }

  static std::uint16_t port_bit(const std::string& key, std::int64_t port) {
    const auto* const found = std::ranges::find(port::kNumbers, port);
    if (found == port::kNumbers.end()) {
      refuse_key(key + "listens",
                 "port " + std::to_string(port) +
                     ": expected one of 21, 22, 25, 53, 68, 80, 135, 139, 443, 445, 3389, 3390");
    }
    return 1U << (found - port::kNumbers.begin());
  }

  /// Red remembers no other ports, and decoys elsewhere would catch nothing.
  static std::uint16_t aimed_port(const std::string& key, std::int64_t port) {
    const auto end = port::kNumbers.begin() + port::kNumAimedAt;
    const auto found = std::find(port::kNumbers.begin(), end, port);
    if (found == end) {
      refuse_key(key, "port " + std::to_string(port) +
                          ": expected one that exploits aim at, 21, 22, 25, 80, 139, 443, 3389 or "
                          "3390");
    }
    return 1U << (found - port::kNumbers.begin());
  }

  static std::uint8_t exploits(const std::string& key, const std::string& text) {
    std::vector<std::string> names;
    for (std::size_t e = 0; e < kNumExploits; ++e) {
      names.emplace_back(exploit_name(static_cast<Exploit>(e)));
    }
    unsigned set = 0;
    for (const std::string& word : words_of(text)) {
      const auto found = std::ranges::find(names, word);
      if (found == names.end()) {
        refuse_key(key, "'" + word + "' is not an exploit" + did_you_mean(word, names));
      }
      set |= 1U << (found - names.begin());
    }
    return set;
  }

  [[nodiscard]] std::uint8_t host(const std::string& key, const std::string& name) const {
    const auto found = std::ranges::find(from_.names, name);
    if (found == from_.names.end()) {
      refuse_key(key, "'" + name + "' is not a host; give one that has a table [hosts.NAME]" +
                          did_you_mean(name, from_.names));
    }
    return found - from_.names.begin();
  }

  [[nodiscard]] Network::Set hosts(const std::string& key, const std::string& text) const {
    Network::Set set = 0;
    for (const std::string& word : words_of(text)) { set |= Network::Set{1} << host(key, word); }
    return set;
  }

  static std::uint16_t tenths(const std::string& key, double cost) {
    const double tenths = std::round(cost * 10);
    if (std::abs(tenths - cost * 10) > 1e-9) { refuse_key(key, "give a multiple of 0.1"); }
    return std::lround(tenths);
  }

  void check_footholds() const {
    if (network_.footholds == 0) { refuse_key("red.footholds", "name at least one host"); }
    for (Network::Set left = network_.footholds; left != 0; left &= left - 1) {
      const int host = std::countr_zero(left);
      if (network_.leads_to[host] == 0) {
        refuse_key("hosts." + from_.names[host] + ".leads_to",
                   "missing; a foothold of red.footholds leads to a host");
      }
    }
  }

  const Scenario& from_;
  const Rules& rules_;
  Network network_;
};

}  // namespace

void Network::set_cost(std::uint8_t host, int tenths) {
  std::array<std::uint16_t, 256>& table = cost_tenths[host / 8];
  const unsigned mask = 1U << host % 8;
  const int old = table[mask];
  for (unsigned set = 0; set < table.size(); ++set) {
    if ((set & mask) != 0) { table[set] += tenths - old; }
  }
}

Scenario parse_scenario(std::string_view text, const std::string& name) {
  Settings settings;
  settings.add_toml(text, name);
  Scenario scenario = scenario_from(settings, &scenario2());
  network_of(scenario, {});  // throws for what cannot be
  return scenario;
}

Scenario read_scenario(const std::string& path) {
  Settings settings;
  settings.add_toml_file(path);
  Scenario scenario = scenario_from(settings, &scenario2());
  network_of(scenario, {});
  return scenario;
}

const Scenario& scenario2() {
  static const Scenario kRead = [] {
    Settings settings;
    settings.add_toml(kScenario2, "scenario2.toml");
    return scenario_from(settings, nullptr);
  }();
  return kRead;
}

Network network_of(const Scenario& scenario, const Rules& rules) {
  return Builder(scenario, rules).build();
}

const Network& scenario2_network(const Rules& rules) {
  static const std::array<Network, 8> kNetworks = [] {
    std::array<Network, 8> all;
    for (unsigned i = 0; i < all.size(); ++i) {
      Rules fixed;
      fixed.fix_smb = (i & 1U) != 0;
      fixed.fix_mysql = (i & 2U) != 0;
      fixed.fix_vsftpd = (i & 4U) != 0;
      all[i] = network_of(scenario2(), fixed);
    }
    return all;
  }();
  return kNetworks[(rules.fix_smb ? 1U : 0U) + (rules.fix_mysql ? 2U : 0U) +
                   (rules.fix_vsftpd ? 4U : 0U)];
}

}  // namespace penstock::cage2
