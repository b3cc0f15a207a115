#pragma once
#include <functional>
#include <string>

namespace penstock {

/// Is told what a person should know: saved, resumed, damaged, "warning: ...".
/// One line, without its end. Called by the thread that runs; what it throws ends the run.
using Note = std::function<void(const std::string&)>;

}  // namespace penstock
