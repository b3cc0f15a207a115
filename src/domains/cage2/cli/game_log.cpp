#include "domains/cage2/cli/game_log.h"

#include <bit>

#include "domains/cage2/cli/belief_json.h"

namespace penstock::cage2 {
namespace {

/// null where an action has no success or failure.
OrderedJson flag_json(Flag flag) {
  return flag == Flag::unknown ? OrderedJson() : OrderedJson(flag == Flag::yes);
}

/// The 52 bits in the order of the challenge's vector, as one word.
std::string bits_text(ObsBits obs) {
  std::string text(kObsSize, '0');
  for (std::size_t i = 0; i < kObsSize; ++i) {
    if ((obs >> i & 1U) != 0) { text[i] = '1'; }
  }
  return text;
}

OrderedJson red_json(const Simulator::Trace& trace) {
  constexpr std::array<const char*, 6> kNames = {"sleep",   "discover_systems", "discover_services",
                                                 "exploit", "escalate",         "impact"};
  const RedMove& move = trace.red;
  OrderedJson json = {{"action", kNames[static_cast<std::size_t>(move.action)]}};
  if (move.action == RedAction::discover_systems) {
    json["target"] = subnet_name(static_cast<Subnet>(move.target));
  } else if (move.action != RedAction::sleep) {
    json["target"] = host_name(move.target);
  }
  if (move.action == RedAction::exploit && move.exploit != kNone) {
    json["exploit"] = exploit_name(static_cast<Exploit>(move.exploit));
    json["detected"] = move.detected;
  }
  json["success"] = flag_json(trace.red_flag);
  return json;
}

/// Of the hosts where red has any.
OrderedJson sessions_json(const World& world) {
  OrderedJson json = OrderedJson::object();
  for (std::uint8_t h = 0; h < kNumHosts; ++h) {
    const HostState& at = world.at(h);
    if (at.num_sessions == 0) { continue; }
    json[std::string(host_name(h))] = {{"sessions", at.num_sessions},
                                       {"privileged", std::popcount(at.privileged)},
                                       {"removable", std::popcount(at.killable & ~at.privileged)}};
  }
  return json;
}

OrderedJson decoys_json(const World& world) {
  OrderedJson json = OrderedJson::object();
  for (std::uint8_t h = 0; h < kNumHosts; ++h) {
    const std::vector<std::string> names = decoy_texts(world, h);
    if (!names.empty()) { json[std::string(host_name(h))] = names; }
  }
  return json;
}

}  // namespace

GameLog::GameLog(std::string blue, const Simulator::Config& game, std::uint64_t seed)
    : head_({{"blue", std::move(blue)},
             {"red", game.red},
             {"rules", game.rules},
             {"wrapper", game.wrapper},
             {"seed", seed},
             {"steps", game.max_steps}}) {}

void GameLog::add(const Scene& scene, const Decision& decision) {
  if (scene.step == 0) { return; }
  const World& world = scene.simulator.world();
  OrderedJson step = {{"step", scene.step},
                      {"blue", action_name(scene.action)},
                      {"action", scene.action},
                      {"choice", decision.choice}};
  if (decision.log_prob) { step["log_prob"] = *decision.log_prob; }
  step["blue_success"] = flag_json(scene.trace.blue_flag);
  step["red"] = move_name(scene.trace.red);
  step["red_move"] = red_json(scene.trace);
  if (scene.trace.green != kNone) { step["green"] = host_name(scene.trace.green); }
  step["reward"] = -scene.trace.cost_tenths / 10.0;
  step["service_up"] = world.service_up();
  step["observation"] = bits_text(scene.simulator.obs());
  step["sessions"] = sessions_json(world);
  step["decoys"] = decoys_json(world);
  if (scene.filter != nullptr) { step["belief"] = belief_json(*scene.filter); }
  steps_.push_back(std::move(step));
  total_tenths_ = scene.total_tenths;
}

void GameLog::judge(const std::string& order, const Judgement& judgement) {
  head_["order"] = order;
  head_["fixes"] = judgement.all.fixes;
  head_["compliance"] = judgement.all.ratio();
  head_["lost_compliance"] = judgement.lost.ratio();
}

std::string GameLog::line() {
  head_["return"] = -total_tenths_ / 10.0;
  head_["episode"] = std::move(steps_);
  return to_text(head_);
}

}  // namespace penstock::cage2
