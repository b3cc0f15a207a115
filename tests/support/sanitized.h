#pragma once

/// Whether a sanitizer watches: what takes minutes there and tells it nothing new is skipped.
///     TEST_CASE("a thousand searches" * doctest::skip(kSanitized)) { ... }
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
