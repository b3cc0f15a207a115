# What fuzz/run and fuzz/coverage share: the targets, the sources and libraries of each, and how they are compiled. Sourced.
# A target is fuzz_TARGET.cpp, corpus/TARGET and, where words help, dictionaries/TARGET.dict.
all_targets=(safetensors config scenario npz routing offer dispatch json manifest policy journal metrics state demonstrations replay options http service)

store=(src/core/base/{check,errors,json,text}.cpp src/core/store/{atomic_file,xxh3,safetensors,safetensors_header,safetensors_layout}.cpp)
env=(src/core/base/{archive,check,config,errors,json,limits,random,text,text_file,thread_pool,toml_limits}.cpp src/core/env/{batched_env,spec,vec_env}.cpp)
routing=(src/core/base/deadline.cpp src/domains/booking/routing/{anneal,benchmark,checker,city_generator,file_generators,generators,globe,oracle,parse_lists,parse_osrm,parse_pairs,parse_solomon,parse_vrplib,roads,route_set,search,sisr,string_removal,text_scanner,tours}.cpp)

# Relative to the root, wherever one stands.
sources_of() (
  cd "$root"
  case $1 in
    safetensors) echo src/core/base/{errors,check,json,text}.cpp src/core/store/{safetensors,safetensors_header,safetensors_layout,atomic_file}.cpp ;;
    config) echo src/core/base/{errors,config,text,text_file,toml_limits}.cpp ;;
    scenario) echo "${env[@]}" src/domains/cage2/sim/{network,red,scenario,simulator,world}.cpp ;;
    npz) echo src/core/base/{errors,text_file}.cpp src/domains/cage2/sim/{npz,npy}.cpp ;;
    routing) echo src/core/base/{errors,json,text}.cpp src/domains/booking/routing/{text_scanner,benchmark,parse_solomon,parse_pairs,parse_vrplib,parse_lists,parse_osrm}.cpp ;;
    offer) echo src/core/base/{errors,json}.cpp src/domains/booking/routing/{checker,globe,parse_osrm,roads,route_set,tours}.cpp src/domains/booking/env/offers.cpp src/domains/booking/routing/json_field.cpp src/domains/booking/offer/{answer,pricer,query,starts,violations}.cpp ;;
    dispatch) echo src/core/base/{check,errors,json,limits,random,text,text_file,thread_pool}.cpp "${routing[@]}" src/domains/booking/routing/json_field.cpp src/domains/booking/dispatch/{bookings,checker,convert,geojson,insertion,load,problem,quote,read_fields,read_matrices,read_problem,read_solution,read_tasks,read_vehicle,route,route_edit,route_load,ruin,schedule,search,solve,timetable,told,uniform,write_problem,write_solution}.cpp ;;
    json) echo src/core/base/json.cpp ;;
    manifest) echo "${store[@]}" src/core/store/manifest.cpp ;;
    policy) echo "${store[@]}" src/core/base/{config,random,text_file,toml_limits}.cpp src/core/env/spec.cpp src/core/fused/{counts,dense,isa,layer,mlp,sample}.cpp src/core/act/*.cpp ;;
    journal) echo "${store[@]}" src/core/store/journal.cpp src/domains/cage2/search/workflow_json.cpp ;;
    metrics) echo "${store[@]}" src/core/base/text_file.cpp src/core/store/{checkpoint,checkpoint_files,checkpoint_writer,event_file,manifest,run_dir}.cpp ;;
    state) echo "${env[@]}" src/envs/classic/*.cpp src/domains/cage2/sim/*.cpp "${routing[@]}" src/domains/booking/env/*.cpp ;;
    demonstrations) echo src/core/base/{check,errors,json,limits,random,text,text_file,thread_pool}.cpp "${routing[@]}" src/domains/booking/env/offers.cpp src/domains/booking/neural/train/demonstrations.cpp ;;
    replay) echo src/core/base/{check,errors,json}.cpp src/core/env/spec.cpp src/app/cli/replay_file.cpp ;;
    options) echo src/core/base/{errors,options}.cpp ;;
    http) echo src/tools/http/{request_reader,local_site}.cpp ;;
    service) echo src/core/base/{errors,json,text}.cpp src/domains/booking/routing/json_field.cpp src/domains/booking/dispatch/problem.cpp src/domains/booking/selling/forecast.cpp src/domains/booking/service/call.cpp ;;
    *) echo "fuzz: unknown target '$1', one of: ${all_targets[*]}" >&2; exit 2 ;;
  esac
)

# Those of the sources that read what a stranger wrote; coverage is told of these.
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
    demonstrations) echo src/domains/booking/neural/train/demonstrations.cpp ;;
    replay) echo src/app/cli/replay_file.cpp ;;
    options) echo src/core/base/options.cpp ;;
    http) echo src/tools/http/{request_reader,local_site}.cpp ;;
    service) echo src/domains/booking/service/call.cpp src/domains/booking/selling/forecast.cpp ;;
  esac
}

libraries_of() {
  case $1 in
    npz) echo -lz ;;
    policy) echo -lhwy ;;
    state) echo -lz ;;
  esac
  echo -lfmt
}

fuzz_flags=(-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -fsanitize-ignorelist="$root/fuzz/ignore.txt")

fast_flags=(-fsanitize=fuzzer -O2 -D_GLIBCXX_ASSERTIONS)

# build FOLDER TARGET... -- FLAG...: FOLDER/TARGET for each. A source that several need is compiled once; two at a time, each on a core
# of its own.
build() {
  local folder=$1 targets=() target objects
  shift
  while [ "$1" != -- ]; do targets+=("$1"); shift; done
  shift
  # As penstock_embed does it.
  local embedded=domains/cage2/sim/scenarios/scenario2.toml
  mkdir -p "$folder/embedded/$(dirname "$embedded")"
  { printf 'R"embedded('; cat "$root/src/$embedded"; printf ')embedded"\n'; } >"$folder/embedded/$embedded.inc"
  export FUZZ_COMPILE="${CLANGXX:-clang++-14} -std=c++20 -O1 -gline-tables-only -DHWY_COMPILE_ONLY_STATIC -I$root/include -I$root/src -I$folder/embedded $*" FUZZ_OBJECTS=$folder/objects
  for target in "${targets[@]}"; do
    echo "fuzz/fuzz_$target.cpp"
    sources_of "$target" | tr ' ' '\n'
  done | sort -u | (cd "$root" && xargs -P 2 -I{} bash -c 'mkdir -p "$FUZZ_OBJECTS/$(dirname {})" && $FUZZ_COMPILE -c {} -o "$FUZZ_OBJECTS/{}.o"')
  for target in "${targets[@]}"; do
    read -ra objects <<<"fuzz/fuzz_$target.cpp $(sources_of "$target" | tr '\n' ' ')"
    objects=("${objects[@]/#/$FUZZ_OBJECTS/}")
    $FUZZ_COMPILE "${objects[@]/%/.o}" $(libraries_of "$target") -o "$folder/$target"
  done
}
