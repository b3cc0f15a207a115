#pragma once
#include <atomic>

namespace penstock::cli {

/// Installs handlers for SIGINT and SIGTERM: the first sets the flag, the second ends the process
/// at once with 128 + n.
const std::atomic<bool>& stop_on_signal();

}  // namespace penstock::cli
