# What fuzz/run, fuzz/coverage and fuzz/merge share. Sourced.
# A target is fuzz_TARGET.cpp, named with its modules in CMakeLists.txt, corpus/TARGET and, where words help, dictionaries/TARGET.dict.
all_targets=("$root"/fuzz/fuzz_*.cpp)
all_targets=("${all_targets[@]##*/fuzz_}")
all_targets=("${all_targets[@]%.cpp}")

# targets_of [TARGET...]: sets targets, all of them if none is given.
targets_of() {
  local target
  targets=("$@")
  [ $# -gt 0 ] || targets=("${all_targets[@]}")
  for target in "${targets[@]}"; do
    [ -f "$root/fuzz/fuzz_$target.cpp" ] || { echo "fuzz: unknown target '$target', one of: ${all_targets[*]}" >&2; exit 2; }
  done
}

# The sources that read what a stranger wrote; coverage is told of these.
readers_of() {
  case $1 in
    safetensors) echo src/core/store/{safetensors,safetensors_header,safetensors_layout}.cpp ;;
    config) echo src/core/base/{config,toml_limits}.cpp ;;
    scenario) echo src/domains/cage2/sim/scenario.cpp ;;
    npz) echo src/domains/cage2/sim/{npz,npy}.cpp ;;
    routing) echo src/domains/booking/routing/{text_scanner,benchmark,parse_solomon,parse_pairs,parse_vrplib,parse_lists,parse_osrm}.cpp ;;
    offer) echo src/domains/booking/routing/json_field.cpp src/domains/booking/offer/{query,answer}.cpp ;;
    dispatch) echo src/domains/booking/dispatch/{bookings,read_fields,read_matrices,read_problem,read_solution,read_tasks,read_vehicle}.cpp ;;
    json) echo src/core/base/json.cpp ;;
    manifest) echo src/core/store/manifest.cpp ;;
    policy) echo src/core/act/{policy_file,policy_model,obs_normaliser}.cpp ;;
    journal) echo src/core/store/journal.cpp src/domains/cage2/search/workflow_json.cpp ;;
    metrics) echo src/core/store/run_dir.cpp ;;
    state) echo include/penstock/core/base/archive.h src/core/env/batched_env.cpp src/envs/classic/{acrobot,mountain_car,pendulum}.cpp src/domains/cage2/sim/{memory,simulator,workflow,world}.cpp src/domains/booking/env/{booking,dvrptw_env}.cpp ;;
    run_state) echo src/core/train/run_state.cpp ;;
    demonstrations) echo src/domains/booking/neural/train/demonstrations.cpp ;;
    replay) echo src/app/cli/replay_file.cpp ;;
    options) echo src/core/base/options.cpp ;;
    http) echo src/tools/http/{request_reader,local_site}.cpp ;;
    service) echo src/domains/booking/service/call.cpp src/domains/booking/selling/forecast.cpp ;;
  esac
}

# build PRESET: the programs of the targets, $programs/fuzz_TARGET. After another build of the preset little is left to compile.
build() {
  (
    cd "$root"
    cmake --log-level=WARNING --preset "$1" >/dev/null
    cmake --build --preset "$1" --parallel "${JOBS:-2}" --target "${targets[@]/#/fuzz_}" -- --quiet
  )
  programs=$root/build/$1/fuzz
}
