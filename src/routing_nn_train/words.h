#pragma once
#include "penstock/routing/instance.h"

namespace penstock::routing {

inline const char* word_of(Mode mode) { return mode == Mode::ride ? "ride" : "deliver"; }

}  // namespace penstock::routing
