#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "penstock/domains/cage2/sim/belief.h"
#include "penstock/domains/cage2/sim/simulator.h"

namespace penstock::cage2 {

/// One step as it is told to a person.
struct Scene {
  int step = 0;  // from 1; 0: before the first
  int num_steps = 0;
  std::string title;        // red, rules and wrapper
  std::int64_t action = 0;  // Blue's
  Simulator::Trace trace;
  int total_tenths = 0;  // what the episode has cost so far, times ten
  const Simulator& simulator;
  const BeliefFilter* filter = nullptr;  // none: nobody asks what Blue can infer
};

/// "-1.1", from ten times a cost.
std::string reward_text(int cost_tenths);
/// "Restore Enterprise1, done" and the like.
std::string blue_text(const Scene& scene);
std::string red_text(const Scene& scene);
/// "root x2", "user", or nothing: the truth about red on a host.
std::string access_text(const World& world, std::uint8_t host);
/// "unknown", "user", "privileged" or nothing.
std::string_view mark_word(Mark mark);
/// "alarm, user": what Blue sees of a host.
std::string view_text(ObsBits obs, std::uint8_t host);
std::vector<std::string> decoy_texts(const World& world, std::uint8_t host);

/// A few lines: who did what, then the hosts that have something to tell, or all.
std::string story(const Scene& scene, bool all_hosts);
/// An SVG document: the three subnets, the true state by colour, what Blue sees in words.
std::string picture(const Scene& scene);

}  // namespace penstock::cage2
