#pragma once

/// Tiny envs with known best returns, for tests of everything that learns or moves rows.
#include "penstock/classic/bandit.h"
#include "penstock/classic/identity.h"
#include "penstock/classic/masked.h"
#include "penstock/classic/multi.h"
#include "penstock/classic/reach.h"
