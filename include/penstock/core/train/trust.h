#pragma once
#include <string>

#include "penstock/core/base/config.h"
#include "penstock/core/store/run_dir.h"
#include "penstock/core/train/note.h"

namespace penstock {

/// What its user says of a run directory, which a stranger may have made. A config that this user
/// wrote on this machine needs no word: it carries a signature by a key that only he can read.
struct Trust {
  bool anyway = false;      // run what the directory names
  std::string env_id = {};  // the id of the run's env, said again
};

/// A config with a last line that only this user can make: HMAC-SHA-1 by the key in
/// $XDG_STATE_HOME/penstock/key, or ~/.local/state/penstock/key, which is made if there is none.
/// Without a home for the key, the config as it is.
std::string signed_config(const std::string& toml);
/// Whether the last line is that of signed_config().
bool is_signed(const std::string& toml);

/// What the config.toml of a run directory says. From a config without this user's signature, no
/// interpreter is taken, which `note` is told, and an env of a Python module needs the user's word:
/// DataError names it. By `anyway` alone, what the name stands for must be a class of envs
/// (env.only_classes).
Settings recorded_config(const RunDir& dir, const Trust& trust, const Note& note);

}  // namespace penstock
