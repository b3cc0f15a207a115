#include "routing/day.h"

namespace penstock::routing {

std::unique_ptr<Generator> make_from_file(std::string_view /*name*/,
                                          const GeneratorConfig& /*config*/) {
  return nullptr;
}

}  // namespace penstock::routing
