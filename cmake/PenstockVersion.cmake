# penstock/version.h for everybody; the commit for one file only: a new one recompiles nothing else.
configure_file("${CMAKE_CURRENT_SOURCE_DIR}/cmake/version.h.in" "${PROJECT_BINARY_DIR}/include/penstock/version.h" @ONLY)
execute_process(COMMAND git describe --always --dirty WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
                OUTPUT_VARIABLE PENSTOCK_GIT_HASH OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT PENSTOCK_GIT_HASH)
  set(PENSTOCK_GIT_HASH unknown)
endif()
set_source_files_properties("${CMAKE_CURRENT_SOURCE_DIR}/src/core/base/version_info.cpp" PROPERTIES
  COMPILE_DEFINITIONS "PENSTOCK_GIT_HASH=\"${PENSTOCK_GIT_HASH}\"")
