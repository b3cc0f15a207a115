# The version and the commit, for one file only: a new commit recompiles nothing else.
execute_process(COMMAND git describe --always --dirty WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
                OUTPUT_VARIABLE PENSTOCK_GIT_HASH OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT PENSTOCK_GIT_HASH)
  set(PENSTOCK_GIT_HASH unknown)
endif()
set_source_files_properties("${CMAKE_CURRENT_SOURCE_DIR}/src/cli/version.cpp" PROPERTIES
  COMPILE_DEFINITIONS "PENSTOCK_VERSION=\"${PROJECT_VERSION}\";PENSTOCK_GIT_HASH=\"${PENSTOCK_GIT_HASH}\""
  SKIP_PRECOMPILE_HEADERS ON)
