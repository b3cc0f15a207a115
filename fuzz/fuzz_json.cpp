// The two ways to read JSON agree on every text; what they read is printed and read back equal, and
// is nowhere deeper than the limit.
#include <cstdlib>

#include "mutate.h"
#include "penstock/core/base/json_value.h"

namespace {

using namespace penstock;

void require(bool holds) {
  if (!holds) { std::abort(); }
}

template <class Json>
std::size_t depth_of(const Json& value) {
  std::size_t deepest = 0;
  for (const Json& item : value) {
    if (item.is_structured()) { deepest = std::max(deepest, depth_of(item)); }
  }
  return deepest + 1;
}

template <class Json>
void check(const Json& value, Json (*parse)(std::string_view)) {
  if (value.is_discarded()) { return; }
  require(!value.is_structured() || depth_of(value) <= JsonLimits{}.max_depth);
  require(parse(to_text(value)) == value);
  require(parse(to_text(value, 2)) == value);
}

bool is_refused(std::string_view text) {
  try {
    parse_json(text);
  } catch (const Json::parse_error&) { return true; } catch (const Json::out_of_range&) {
    return true;  // any other exception is a crash
  }
  return false;
}

}  // namespace

FUZZ_TEXT_MUTATOR

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Json value = try_parse_json(text);
  require(value.is_discarded() == is_refused(text));
  check(value, try_parse_json);
  check(try_parse_ordered_json(text), parse_ordered_json);
  return 0;
}
