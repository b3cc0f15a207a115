# Compiler settings shared by every target of this tree.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

find_program(PENSTOCK_CCACHE ccache)
if(PENSTOCK_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Precompiled headers need the first two, see the section of that name in ccache's manual. Paths relative
  # to the build folder let trees beside each other, build/ci and build/wheel, share what they compile.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${PENSTOCK_CCACHE})
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endif()

find_program(PENSTOCK_MOLD mold)
if(PENSTOCK_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# One rounding per operation, so that a fused multiply-add chosen by the compiler in one place and
# not in another cannot change results between builds.
add_compile_options(-ffp-contract=off)

if(PENSTOCK_SANITIZE)
  # vptr checks need type information that the torch libraries do not export. toml++ 3.3 calls a place
  # unreachable that non-ASCII text outside of strings reaches; what follows there is harmless.
  set(sanitize -fsanitize=${PENSTOCK_SANITIZE} -fno-sanitize=vptr,unreachable)
  add_compile_options(${sanitize} -fno-omit-frame-pointer)
  add_link_options(${sanitize})
endif()
