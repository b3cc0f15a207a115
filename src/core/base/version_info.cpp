#include "penstock/core/base/version_info.h"

#include "penstock/version.h"

namespace penstock {

const char* version() { return PENSTOCK_VERSION; }
const char* git_hash() { return PENSTOCK_GIT_HASH; }

}  // namespace penstock
