#pragma once

namespace penstock {

/// The version of the library that is linked: "0.1.0".
const char* version();
/// Of the tree this was built from; "unknown" outside git.
const char* git_hash();

}  // namespace penstock
