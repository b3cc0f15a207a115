#pragma once

namespace penstock::cli {

const char* version();
/// Of the tree this was built from; "unknown" outside git.
const char* git_hash();

}  // namespace penstock::cli
