#pragma once

/// Whether a sanitizer watches: what takes minutes there and tells it nothing new is skipped.
///     TEST_CASE("a thousand searches" * doctest::skip(kSanitized)) { ... }
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PENSTOCK_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PENSTOCK_SANITIZED 1
#endif
#endif
#ifdef PENSTOCK_SANITIZED
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
