# The graph of modules, written here and nowhere else: tests/lint/includes.py holds the #include lines against it, and
# the table of docs/architecture.md is made from it (scripts/gen-module-docs). A module is a folder of include/penstock
# and of src; its target is named by the folder without the group: core/base is penstock::base,
# domains/booking/env is penstock::booking_env.

# core: the trainer, in the order of the data. Includes no other group.
penstock_module(core/base LEAN "errors, configuration, command-line options, JSON text, random numbers, the archive of small states, the thread pool"
  DEPENDS Threads::Threads PRIVATE_DEPENDS CLI11::CLI11 fmt::fmt nlohmann_json::nlohmann_json)
penstock_module(core/env LEAN "the `Env` concept, specs, `VecEnv` and `BatchedEnv`"
  DEPENDS penstock::base)
penstock_module(core/contract "what every env must keep, checked"
  DEPENDS penstock::env)
penstock_module(core/store LEAN "the run directory, checkpoints, safetensors, event files, journals"
  DEPENDS penstock::base PRIVATE_DEPENDS fmt::fmt nlohmann_json::nlohmann_json)
penstock_module(core/fused APART "kernels for MLPs without a graph: products, losses, Adam, sampling"
  DEPENDS penstock::base PRIVATE_DEPENDS hwy::hwy)
penstock_module(core/act LEAN "a policy to act with: its file, its heads, actors; ships without libtorch"
  DEPENDS penstock::env penstock::fused penstock::store PRIVATE_DEPENDS nlohmann_json::nlohmann_json)
penstock_module(core/nn TORCH "networks, and the learner's policy with flat parameters"
  DEPENDS penstock::act)
penstock_module(core/peers "what crosses processes: the tree above the shards"
  DEPENDS penstock::base)
penstock_module(core/rollout TORCH "fragments of experience, and the sampler that fills them"
  DEPENDS penstock::nn penstock::peers)
penstock_module(core/algo TORCH "learners: targets, losses, the optimiser, PPO and A2C"
  DEPENDS penstock::rollout)
penstock_module(core/train TORCH "a run: its config, the loop, saving, resuming, evaluation"
  DEPENDS penstock::algo penstock::store PRIVATE_DEPENDS nlohmann_json::nlohmann_json)
penstock_module(core/ranks TORCH "several processes of a run: how they were started, how they meet, their connections"
  DEPENDS penstock::peers PRIVATE_DEPENDS fmt::fmt)

# tools: what reports are made of, and what answers over HTTP.
penstock_module(tools/page "pages that load nothing from elsewhere, and their pictures"
  DEPENDS penstock::base PRIVATE_DEPENDS fmt::fmt)
penstock_module(tools/http "a small HTTP server for programs of the same machine: routes, limits, metrics"
  DEPENDS penstock::base PRIVATE_DEPENDS Boost::headers fmt::fmt nlohmann_json::nlohmann_json)

# envs.
penstock_module(envs/classic APART "the classic control envs and tiny envs for tests"
  DEPENDS penstock::env)
penstock_module(envs/python "envs in worker processes: shared rows, launchers, failures; Gymnasium's envs by name"
  DEPENDS penstock::env PRIVATE_DEPENDS fmt::fmt nlohmann_json::nlohmann_json)

# domains: they do not include each other.
penstock_module(domains/booking/routing "routing under time windows: instances, generators, parsers, the checker, search; knows no offer"
  DEPENDS penstock::env PRIVATE_DEPENDS fmt::fmt nlohmann_json::nlohmann_json)
penstock_module(domains/booking/dispatch "real fleets: a superset of VROOM's input, plans under work with quotes, the checker, search; the verbs plan, check and convert"
  DEPENDS penstock::booking_routing penstock::store PRIVATE_DEPENDS fmt::fmt nlohmann_json::nlohmann_json)
penstock_module(domains/booking/env "the env `dvrptw`: offers, answers, beliefs, prices"
  DEPENDS penstock::booking_routing PRIVATE_DEPENDS fmt::fmt)
penstock_module(domains/booking/slots "the env `slots`: slots sold for money; choice by multinomial logit, sellers, their comparison"
  DEPENDS penstock::booking_env penstock::act penstock::page PRIVATE_DEPENDS fmt::fmt nlohmann_json::nlohmann_json)
penstock_module(domains/booking/neural "the neural routing oracle: masks, inference, the model's file"
  DEPENDS penstock::booking_env penstock::fused penstock::store PRIVATE_DEPENDS fmt::fmt)
penstock_module(domains/booking/offer "what to propose for a new request, priced; its JSON, server and command"
  DEPENDS penstock::booking_neural penstock::http PRIVATE_DEPENDS fmt::fmt nlohmann_json::nlohmann_json)
penstock_module(domains/booking/selling "a network of the env `slots` sells slots of real plans: forecasts, what it is told, what it advises"
  DEPENDS penstock::booking_slots penstock::booking_dispatch PRIVATE_DEPENDS nlohmann_json::nlohmann_json)
penstock_module(domains/booking/demand "what customers answer: their tastes, the fit to a log, what to show; the verb backtest"
  DEPENDS penstock::booking_selling PRIVATE_DEPENDS fmt::fmt nlohmann_json::nlohmann_json)
penstock_module(domains/booking/service "plans that are kept: quotes, holds, bookings; the store, the server and its command"
  DEPENDS penstock::booking_demand penstock::http penstock::page PRIVATE_DEPENDS SQLite::SQLite3 fmt::fmt nlohmann_json::nlohmann_json)
penstock_embed(domains/booking/service openapi.json page/dispatcher.css page/dispatcher.html page/dispatcher.js)
penstock_use_libpq(booking_service)
penstock_module(domains/booking/neural/train TORCH "its demonstrations, training and comparison with long searches"
  DEPENDS penstock::booking_neural penstock::train)
penstock_module(domains/booking/compare TORCH "booking policies compared on the same days: tables, audit, reference, the report page"
  DEPENDS penstock::booking_env penstock::train penstock::page PRIVATE_DEPENDS nlohmann_json::nlohmann_json)
penstock_module(domains/booking/cli "the verbs of `penstock booking`"
  DEPENDS penstock::booking_service penstock::booking_slots penstock::booking_offer penstock::booking_compare penstock::booking_neural_train
  PRIVATE_DEPENDS fmt::fmt)
penstock_module(domains/cage2/sim LEAN "the simulator of CAGE Challenge 2, its recordings, scripted agents and workflows"
  DEPENDS penstock::env PRIVATE_DEPENDS ZLIB::ZLIB)
penstock_embed(domains/cage2/sim scenarios/scenario2.toml)
penstock_module(domains/cage2/opponent LEAN "trained policies as the other side of a game"
  DEPENDS penstock::act penstock::cage2_sim)
penstock_module(domains/cage2/search "the search over workflows: a Gaussian process over orders, journal, regret, report page"
  DEPENDS penstock::store penstock::cage2_sim penstock::page
  PRIVATE_DEPENDS Eigen3::Eigen fmt::fmt nlohmann_json::nlohmann_json)
penstock_module(domains/cage2/workflow TORCH "training for an order of repairs, with its early stop; the leader board"
  DEPENDS penstock::cage2_sim penstock::train)
penstock_module(domains/cage2/cli "the verbs of `penstock cage2`"
  DEPENDS penstock::cage2_search penstock::cage2_workflow
  PRIVATE_DEPENDS fmt::fmt nlohmann_json::nlohmann_json)
penstock_embed(domains/cage2/cli agent/agent.py agent/evaluate.py agent/record.py agent/README.md
  page/episode.css page/episode.html page/episode.js)

# app: what joins them.
penstock_module(app/bench TORCH "benchmarks of envs and training beside bare libtorch"
  DEPENDS penstock::train)
penstock_module(app/fleet "many runs: what a fleet's file asks for, its ledger, the processes and schedulers that run it"
  DEPENDS penstock::train PRIVATE_DEPENDS fmt::fmt nlohmann_json::nlohmann_json)
penstock_module(app/envs "the one table of envs"
  DEPENDS penstock::classic penstock::cage2_opponent penstock::booking_neural penstock::booking_slots penstock::python)
penstock_module(app/catalog "the one table of networks, algorithms and domains, with that of envs"
  DEPENDS penstock::envs penstock::cage2_cli penstock::booking_cli)
penstock_module(app/cli TORCH "the verbs; takes a catalog, knows none and no domain"
  DEPENDS penstock::bench penstock::contract penstock::fleet penstock::page penstock::ranks PRIVATE_DEPENDS nlohmann_json::nlohmann_json)
