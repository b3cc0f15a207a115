#pragma once

/// Tiny envs with known best returns, for tests of everything that learns or moves rows.
/// A learner that does not solve them has a fault: reading a row (identity), noise (bandit), masks
/// (masked), several choices at once (multi), continuous actions (reach).
#include "penstock/envs/classic/bandit.h"
#include "penstock/envs/classic/identity.h"
#include "penstock/envs/classic/masked.h"
#include "penstock/envs/classic/multi.h"
#include "penstock/envs/classic/reach.h"
