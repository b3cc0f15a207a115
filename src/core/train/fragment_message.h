#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/train/travelling.h"
#include "penstock/core/rollout/fragment.h"
#include "penstock/core/rollout/fragment_source.h"

namespace penstock::detail {

/// What is told of a fragment that was filled in another process.
struct FragmentLabel {
  std::int64_t seat = 0;  // these three name it: each is learnt from once
  std::int64_t epoch = 0;
  std::int64_t number = 0;   // counted from 0 in its epoch
  std::int64_t version = 0;  // of the policy, in all rows
  std::int64_t discarded = 0;
  SampleTime time;
  std::vector<TravellingEnd> episodes;
  std::vector<TravellingIncident> incidents;

  template <class Archive>
  void state(Archive& archive) {
    archive(seat, epoch, number, version, discarded, time.env, time.infer, time.copy, episodes,
            incidents);
  }
};

/// A fragment as it travels: the label's size, the label, the tensors' bytes in their order.
/// For processes of one build.
std::vector<std::byte> to_message(const FragmentLabel& label, const Fragment& fragment);

/// Throws DataError when it is torn.
FragmentLabel label_of(std::span<const std::byte> message);
/// The rows into those of envs [first, first + num_envs) of `into`. Throws DataError when it is not
/// a message of that many envs.
void read_rows(std::span<const std::byte> message, std::int64_t first, std::int64_t num_envs,
               const Fragment& into);
/// The bytes of the tensors of that many envs; without the label.
std::size_t rows_size(const Fragment& like, std::int64_t num_envs);

}  // namespace penstock::detail
