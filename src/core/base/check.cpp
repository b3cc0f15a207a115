#include "penstock/core/base/check.h"

#include <stdexcept>
#include <string>

namespace penstock::detail {

void check_failed(const char* file, int line, const char* text) {
  throw std::logic_error(std::string(file) + ":" + std::to_string(line) +
                         ": check failed: " + text);
}

}  // namespace penstock::detail
