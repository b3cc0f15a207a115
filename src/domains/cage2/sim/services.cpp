#include "domains/cage2/sim/services.h"

namespace penstock::cage2 {
namespace {

constexpr HostServices kGateway = {port::k22, 1, bit(Exploit::ssh_brute_force), 0};

constexpr HostServices kDefender = {
    port::k22 | port::k53 | port::k68, 4, bit(Exploit::ssh_brute_force), 0, false, false};

/// The process on 139 and 445 is not typed as what it is, so that EternalBlue finds nothing.
constexpr HostServices kInternal = {
    port::k22 | port::k135 | port::k3389 | port::k445 | port::k139 | port::k80 | port::k443, 7,
    bit(Exploit::ssh_brute_force) | bit(Exploit::blue_keep) | bit(Exploit::http_rfi) |
        bit(Exploit::https_rfi),
    bit(Exploit::blue_keep), true};

constexpr HostServices kFtpUser = {port::k22 | port::k21, 2,
                                   bit(Exploit::ssh_brute_force) | bit(Exploit::ftp_traversal),
                                   bit(Exploit::ftp_traversal), true};

constexpr HostServices kUser2 = {port::k445 | port::k139 | port::k135 | port::k3389, 4,
                                 bit(Exploit::eternal_blue) | bit(Exploit::blue_keep),
                                 bit(Exploit::eternal_blue), true};

/// MySQL listens on 3389 here, where no exploit looks for it.
constexpr HostServices kUser3 = {
    port::k80 | port::k3389 | port::k443 | port::k25, 4,
    bit(Exploit::http_rfi) | bit(Exploit::https_rfi) | bit(Exploit::haraka_rce),
    bit(Exploit::haraka_rce)};

constexpr HostServices kUser4 = {port::k22 | port::k80 | port::k3390 | port::k443 | port::k25, 5,
                                 bit(Exploit::ssh_brute_force) | bit(Exploit::http_rfi) |
                                     bit(Exploit::https_rfi) | bit(Exploit::sql_injection) |
                                     bit(Exploit::haraka_rce),
                                 bit(Exploit::sql_injection) | bit(Exploit::haraka_rce)};

constexpr Services make_services(bool fix_smb, bool fix_mysql) {
  Services all{{kDefender, kGateway, kInternal, kInternal, kGateway, kGateway, kGateway, kGateway,
                kFtpUser, kFtpUser, kUser2, kUser3, kUser4}};
  if (fix_smb) {
    for (const std::uint8_t h : {host::kEnterprise1, host::kEnterprise2}) {
      all.hosts[h].genuine |= bit(Exploit::eternal_blue);
      all.hosts[h].privileged |= bit(Exploit::eternal_blue);
    }
  }
  if (fix_mysql) {
    HostServices& user3 = all.hosts[host::kUser3];
    user3.ports = port::k80 | port::k3390 | port::k443 | port::k25;
    user3.genuine |= bit(Exploit::sql_injection);
    user3.privileged |= bit(Exploit::sql_injection);
  }
  return all;
}

constexpr std::array<Services, 4> kServices = {
    make_services(false, false), make_services(true, false), make_services(false, true),
    make_services(true, true)};

}  // namespace

const Services& services(bool fix_smb, bool fix_mysql) {
  return kServices[(fix_smb ? 1 : 0) + (fix_mysql ? 2 : 0)];
}

}  // namespace penstock::cage2
