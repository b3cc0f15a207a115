#include "cli/version.h"

namespace penstock::cli {

const char* version() { return PENSTOCK_VERSION; }
const char* git_hash() { return PENSTOCK_GIT_HASH; }

}  // namespace penstock::cli
