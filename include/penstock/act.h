#pragma once
// Acting with a trained policy, for programs that link penstock::act and no libtorch:
//
//     const auto model = penstock::PolicyModel::load("policy.safetensors");
//     const auto actor = penstock::make_actor(model);
//     actor->act({.count = 1, .obs = row}, {.choices = choice});
//
// One model may be shared by all threads; an actor is of one thread at a time.
#include "penstock/core/act/actor.h"
#include "penstock/core/act/policy_model.h"
#include "penstock/core/base/errors.h"
#include "penstock/version.h"
