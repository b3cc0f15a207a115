#pragma once
#include <vector>

#include "penstock/core/env/vec_env.h"

// What envs tell, as it crosses processes; see core/train/packing.h.

namespace penstock::detail {

/// An episode as it travels.
struct TravellingEnd {
  EpisodeEnd end;
  template <class Archive>
  void state(Archive& archive) {
    archive(end.total_reward, end.length, end.success, end.discarded, end.stats, end.env);
  }
};

/// A failure likewise.
struct TravellingIncident {
  Incident incident;
  template <class Archive>
  void state(Archive& archive) {
    archive(incident.message, incident.replay, incident.replay_name, incident.replay_options);
  }
};

inline std::vector<TravellingEnd> travelling(const std::vector<EpisodeEnd>& ends) {
  std::vector<TravellingEnd> out;
  out.reserve(ends.size());
  for (const EpisodeEnd& end : ends) { out.push_back({end}); }
  return out;
}

}  // namespace penstock::detail
