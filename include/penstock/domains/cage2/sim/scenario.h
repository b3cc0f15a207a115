#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/core/base/config.h"
#include "penstock/domains/cage2/sim/network.h"

/// Networks as data: docs/cage2/scenarios.md tells the keys of a file. Scenario 2 is the first one,
/// and part of the program.
namespace penstock::cage2 {

struct Rules;

/// What listens on a host from the start. Ports are bits.
struct HostServices {
  std::uint16_t ports = 0;
  std::uint8_t endpoints = 0;   // a port may be listened on twice
  std::uint8_t genuine = 0;     // exploits that find the service they need, one bit each
  std::uint8_t privileged = 0;  // of these, the ones that end with root or SYSTEM
  bool windows = false;
  bool guessable = true;  // an account whose password a brute force finds
};

enum class System : std::uint8_t { any, windows, linux };

/// A kind of decoys.
struct DecoyKind {
  std::uint16_t needs_free = 0;
  System system = System::any;
  std::uint16_t opens = 0;
  std::uint8_t lures = 0;  // exploits that it catches, one bit each
};

/// The tables of one network under one set of rules. Plain numbers: what a world looks up.
struct Network {
  static constexpr std::int64_t kMaxHosts = 64;
  using Set = std::uint64_t;  // bit h for host h

  std::uint8_t num_hosts = 0;
  std::uint8_t width = 0;  // hosts that actions and observations have room for, num_hosts or more
  std::uint8_t start = 0;  // red's own
  std::uint8_t goal = 0;   // the host of the OT service
  std::uint8_t relay = 0;  // bline looks for the goal there
  std::uint16_t service_tenths = 0;  // cost of a step while the service is down
  std::uint16_t restore_tenths = 0;
  Set footholds = 0;                  // bline begins at one of these
  std::array<Set, 3> subnet_hosts{};  // by Subnet
  std::array<Set, 3> gates{};         // a session on one of them opens the subnet; 0: it is open
  std::array<DecoyKind, kNumDecoys> decoys{};
  std::array<Subnet, kMaxHosts> subnets{};
  std::array<HostServices, kMaxHosts> services{};
  std::array<Set, kMaxHosts> leads_to{};  // addresses that red learns by escalating there
  /// Ten times the cost of every set of eight hosts that follow each other.
  std::array<std::array<std::uint16_t, 256>, kMaxHosts / 8> cost_tenths{};

  [[nodiscard]] Set all() const {
    return num_hosts == kMaxHosts ? ~Set{0} : (Set{1} << num_hosts) - 1;
  }
  /// Where Green may be: users, and servers that open the way on.
  [[nodiscard]] Set green_hosts() const { return subnet_hosts[0] | gates[2]; }
  /// `tenths` may be told again for a host.
  void set_cost(std::uint8_t host, int tenths);
};

/// A host as a file has it.
struct ScenarioHost {
  /// What differs under a switch of the rules; what is empty does not.
  struct Fix {
    std::vector<std::int64_t> listens;
    std::string exploits;
    std::string privileged;
    template <class Visitor>
    void fields(Visitor& visit) {
      visit("listens", listens, "ports of its services");
      visit("exploits", exploits, "those that find what they need");
      visit("privileged", privileged, "of these, those that end with root or SYSTEM");
    }
  };

  std::string subnet;
  std::string system = "linux";
  double cost = 0;
  std::vector<std::int64_t> listens;
  std::string exploits;
  std::string privileged;
  bool guessable = true;
  std::string leads_to;
  Fix fix_smb;
  Fix fix_mysql;

  template <class Visitor>
  void fields(Visitor& visit) {
    visit("subnet", subnet, "where it is", Choices{"user", "enterprise", "operational"});
    visit("system", system, "its operating system", Choices{"linux", "windows"});
    visit("cost", cost, "of a step in which red is root or SYSTEM there, in tenths", Range{0, 100});
    visit("listens", listens, "ports of its services");
    visit("exploits", exploits, "those that find what they need, with commas");
    visit("privileged", privileged, "of these, those that end with root or SYSTEM");
    visit("guessable", guessable, "whether a brute force finds a password");
    visit("leads_to", leads_to, "hosts whose addresses red learns by escalating there");
    visit("fix_smb", fix_smb, "what differs where env.fix_smb");
    visit("fix_mysql", fix_mysql, "what differs where env.fix_mysql");
  }
};

/// A kind of decoys as a file has it.
struct ScenarioDecoy {
  struct Fix {
    std::int64_t opens = 0;
    std::string lures;
    template <class Visitor>
    void fields(Visitor& visit) {
      visit("opens", opens, "port that it listens on");
      visit("lures", lures, "the exploit that it catches");
    }
  };

  std::int64_t needs_free = 0;
  std::string system = "any";
  std::int64_t opens = 0;
  std::string lures = "none";
  Fix fix_vsftpd;

  template <class Visitor>
  void fields(Visitor& visit) {
    visit("needs_free", needs_free, "port that must be free");
    visit("system", system, "operating system that it needs", Choices{"any", "linux", "windows"});
    visit("opens", opens, "port that it listens on");
    visit("lures", lures, "the exploit that it catches, or none");
    visit("fix_vsftpd", fix_vsftpd, "what differs where env.fix_vsftpd");
  }
};

/// A network with its names.
struct Scenario {
  std::vector<std::string> names;  // of hosts, alphabetical
  std::vector<ScenarioHost> hosts;
  std::array<ScenarioDecoy, kNumDecoys> decoys;
  std::string start;
  std::string goal;
  std::string footholds;
  std::string relay;
  double service_cost = 10;
  double restore_cost = 1;
  std::array<std::string, 3> opened_by;  // by Subnet

  template <class Visitor>
  void fields(Visitor& visit) {
    visit("red.start", start, "host where red has a session that nothing ends");
    visit("red.goal", goal, "host of the OT service");
    visit("red.footholds", footholds, "hosts of which bline draws one to begin with");
    visit("red.relay", relay, "host where bline looks for the way to the goal");
    visit("costs.service", service_cost, "of a step while the OT service is down", Range{0, 100});
    visit("costs.restore", restore_cost, "of a Restore", Range{0, 100});
    visit("subnets.user", opened_by[0], "hosts a session on which opens it; none: it is open");
    visit("subnets.enterprise", opened_by[1], "hosts a session on which opens it");
    visit("subnets.operational", opened_by[2], "hosts a session on which opens it");
  }
};

/// Reads a scenario's TOML; `name` stands for the file in messages. Decoys that it does not tell
/// are those of Scenario 2. Throws ConfigError that names the key and the remedy.
Scenario parse_scenario(std::string_view text, const std::string& name);
/// The same from a file. Throws IoError when it cannot be read.
Scenario read_scenario(const std::string& path);
/// Scenario 2 of the challenge. Lives for ever.
const Scenario& scenario2();

/// The tables that the rules make of a scenario. Throws ConfigError for one that cannot be.
Network network_of(const Scenario& scenario, const Rules& rules);
/// Those of Scenario 2. They live for ever.
const Network& scenario2_network(const Rules& rules);

}  // namespace penstock::cage2
