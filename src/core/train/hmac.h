#pragma once
#include <string>

namespace penstock::detail {

/// RFC 2104, in hexadecimal. The hash comes with libtorch. That collisions of SHA-1 can be found
/// does not help to forge an HMAC.
std::string hmac_sha1(const std::string& key, const std::string& text);

}  // namespace penstock::detail
