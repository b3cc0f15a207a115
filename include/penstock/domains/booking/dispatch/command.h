#pragma once
#include <span>

#include "penstock/core/base/light_verb.h"

namespace penstock::booking::dispatch {

/// `penstock booking plan`, `check` and `convert`. Static memory.
std::span<const LightVerb> light_verbs();

/// The one of them that a command line asks for, by the domain's former name too; nullptr when it
/// asks for another verb.
const LightVerb* verb_asked_for(int argc, const char* const* argv);

}  // namespace penstock::booking::dispatch
