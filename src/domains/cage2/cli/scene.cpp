#include "domains/cage2/cli/scene.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>

namespace penstock::cage2 {
namespace {

std::string flag_text(Flag flag) {
  switch (flag) {
    case Flag::yes:
      return ": done";
    case Flag::no:
      return ": failed";
    default:
      return "";
  }
}

std::string_view activity_word(Activity activity) {
  switch (activity) {
    case Activity::scan:
      return "scan";
    case Activity::exploit:
      return "alarm";
    default:
      return "";
  }
}

bool has_news(const Scene& scene, std::uint8_t host) {
  const World& world = scene.simulator.world();
  const bool red = has(world.with_sessions(), host) && host != host::kUser0;
  return red || !view_text(scene.simulator.obs(), host).empty() || world.at(host).num_decoys != 0;
}

}  // namespace

std::string reward_text(int cost_tenths) {
  return fmt::format("{}{}.{}", cost_tenths > 0 ? "-" : "", cost_tenths / 10, cost_tenths % 10);
}

std::string blue_text(const Scene& scene) {
  return action_name(scene.action) + flag_text(scene.trace.blue_flag);
}

std::string red_text(const Scene& scene) {
  const RedMove& move = scene.trace.red;
  std::string text = move_name(move) + flag_text(scene.trace.red_flag);
  if (move.action == RedAction::exploit && scene.trace.red_flag == Flag::yes &&
      move.exploit != static_cast<std::uint8_t>(Exploit::ssh_brute_force)) {
    text += move.detected ? ", detected" : ", not detected";
  }
  return text;
}

std::string_view mark_word(Mark mark) {
  switch (mark) {
    case Mark::unknown:
      return "unknown";
    case Mark::user:
      return "user";
    case Mark::privileged:
      return "privileged";
    default:
      return "";
  }
}

std::string access_text(const World& world, std::uint8_t host) {
  const HostState& at = world.at(host);
  if (at.num_sessions == 0) { return ""; }
  std::string text = at.privileged != 0 ? "root" : "user";
  if (at.num_sessions > 1) { text += fmt::format(" x{}", at.num_sessions); }
  return text;
}

std::string view_text(ObsBits obs, std::uint8_t host) {
  const std::string_view seen = activity_word(activity(obs, host));
  const std::string_view marked = mark_word(mark(obs, host));
  return fmt::format("{}{}{}", seen, seen.empty() || marked.empty() ? "" : ", ", marked);
}

std::vector<std::string> decoy_texts(const World& world, std::uint8_t host) {
  const HostState& at = world.at(host);
  std::vector<std::string> names;
  for (std::size_t k = 0; k < kNumDecoys; ++k) {
    if ((at.decoys >> k & 1) == 0) { continue; }
    const auto decoy = static_cast<Decoy>(k);
    std::string name(decoy_name(decoy));
    if (decoy == Decoy::vsftpd && at.num_vsftpd > 1) { name += fmt::format(" x{}", at.num_vsftpd); }
    names.push_back(std::move(name));
  }
  return names;
}

std::string story(const Scene& scene, bool all_hosts) {
  const World& world = scene.simulator.world();
  std::string text = fmt::format("step {}/{}  reward {}  return {}\n  Blue  {}\n", scene.step,
                                 scene.num_steps, reward_text(scene.trace.cost_tenths),
                                 reward_text(scene.total_tenths), blue_text(scene));
  if (scene.trace.green != kNone) {
    text += fmt::format("  Green scans {}\n", host_name(scene.trace.green));
  }
  text += fmt::format("  Red   {}\n", red_text(scene));
  if (!world.service_up()) { text += "  The OT service is down.\n"; }
  for (std::uint8_t h = 0; h < kNumHosts; ++h) {
    if (!all_hosts && !has_news(scene, h)) { continue; }
    const std::string access = access_text(world, h);
    const std::string view = view_text(scene.simulator.obs(), h);
    const std::vector<std::string> decoys = decoy_texts(world, h);
    text += fmt::format("    {:12} red: {:8} Blue sees: {:18}{}{}\n", host_name(h),
                        access.empty() ? "-" : access, view.empty() ? "-" : view,
                        decoys.empty() ? "" : "decoys: ", fmt::join(decoys, ", "));
  }
  return text;
}

}  // namespace penstock::cage2
