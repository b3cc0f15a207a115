#pragma once
#include <cstddef>

namespace penstock::test {

/// The largest single allocation since the last call. This program replaces operator new.
std::size_t largest_allocation();

}  // namespace penstock::test
