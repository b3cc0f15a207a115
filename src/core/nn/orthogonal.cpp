#include "core/nn/orthogonal.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <span>

namespace penstock::detail {

at::Tensor orthogonal(std::int64_t rows, std::int64_t columns, double gain, const RandomKey& key) {
  const std::int64_t longer = std::max(rows, columns);
  const std::int64_t shorter = std::min(rows, columns);
  at::Tensor normal = at::empty({longer, shorter}, at::kDouble);
  Random random(key);
  for (double& x : std::span(normal.data_ptr<double>(), normal.numel())) { x = random.normal(); }
  const auto [q, r] = at::linalg_qr(normal);
  at::Tensor result = q * r.diagonal().sign();  // makes the decomposition unique
  if (rows < columns) { result = result.t(); }
  return (gain * result).to(at::kFloat).contiguous();
}

}  // namespace penstock::detail
