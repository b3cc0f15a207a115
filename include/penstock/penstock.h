#pragma once
// The front door: what a program needs that brings an env, trains and acts. No header of libtorch
// is behind it.
//
//     env     Env, BatchedEnv, env_entry        core/env/batched_env.h
//     train   Catalog, RunPlan, Run, open_run   core/train/run.h, core/train/trained_run.h
//             default_catalog, run_cli          app/catalog/catalog.h, app/cli/cli.h
//     act     PolicyModel, Actor, make_actor    penstock/act.h, which stands alone
//
// Networks and algorithms of your own meet tensors: include core/nn/network.h or
// core/algo/learner.h for them. Every other header serves these, and may change with any version.
#include "penstock/act.h"
#include "penstock/app/catalog/catalog.h"
#include "penstock/app/cli/cli.h"
#include "penstock/core/base/random.h"
#include "penstock/core/env/batched_env.h"
#include "penstock/core/train/catalog.h"
#include "penstock/core/train/evaluate.h"
#include "penstock/core/train/run.h"
#include "penstock/core/train/trained_run.h"
