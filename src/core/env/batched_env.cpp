#include "penstock/core/env/batched_env.h"

#include "penstock/core/base/errors.h"

namespace penstock::detail {
namespace {

void require(bool holds) {
  if (!holds) { throw DataError("env state: the actions are not those of an env of this kind"); }
}

void check_size(bool begun, std::size_t size, std::int64_t steps, std::size_t dims) {
  require(steps >= 0 && size / dims == static_cast<std::size_t>(steps) && size % dims == 0);
  require(begun || steps == 0);
}

}  // namespace

void check_log(const ActionLog<std::int64_t>& log, std::int64_t steps, const ActionSpec& action) {
  const std::size_t dims = action.dims();
  check_size(log.begun, log.actions.size(), steps, dims);
  for (std::size_t k = 0; k < log.actions.size(); ++k) {
    require(log.actions[k] >= 0 && log.actions[k] < action.choices()[k % dims]);
  }
}

void check_log(const ActionLog<float>& log, std::int64_t steps, const ActionSpec& action) {
  const std::size_t dims = action.dims();
  check_size(log.begun, log.actions.size(), steps, dims);
  for (std::size_t k = 0; k < log.actions.size(); ++k) {
    const float x = log.actions[k];
    require(x >= action.box().low[k % dims] && x <= action.box().high[k % dims]);
  }
}

}  // namespace penstock::detail
