#pragma once
#include <string>

#include "penstock/domains/cage2/sim/opponent.h"

namespace penstock::cage2 {

/// A policy file, as `penstock export` writes it, as somebody to play against. Its actions are
/// drawn, as in training. The file is read once; what the entry makes shares the weights. Throws
/// IoError, or DataError that names what is wrong with the file.
OpponentEntry load_opponent(const std::string& path);

}  // namespace penstock::cage2
