#pragma once
#include <string>

namespace penstock::cage2 {

/// A page that holds everything it needs: an episode with a slider over its steps. `log` is a line
/// of GameLog.
std::string episode_page(const std::string& title, const std::string& log);

}  // namespace penstock::cage2
