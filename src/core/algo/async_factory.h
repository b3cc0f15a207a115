#pragma once
#include <vector>

#include "penstock/core/algo/learner.h"

namespace penstock::detail {

/// The same algorithm with learner and sampler side by side: its keys, and those of `async`.
template <class Factory>
class AsyncFactory final : public Factory {
 public:
  std::vector<Field> fields() override {
    std::vector<Field> all = Factory::fields();
    for (Field& field : fields_of(async_, "async.")) { all.push_back(std::move(field)); }
    return all;
  }
  [[nodiscard]] AsyncConfig async() const override {
    AsyncConfig now = async_;
    if (leaves_lag_open()) { now.max_lag = 0; }
    return now;
  }
  [[nodiscard]] bool leaves_lag_open() const override {
    return async_.max_lag == AsyncConfig::kMeasured;
  }

 private:
  AsyncConfig async_;
};

}  // namespace penstock::detail
