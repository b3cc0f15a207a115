#pragma once
#include <span>

#include "penstock/core/base/light_verb.h"

namespace penstock::booking::dispatch {

/// `penstock booking plan`, `check` and `convert`. Static memory.
std::span<const LightVerb> light_verbs();

}  // namespace penstock::booking::dispatch
