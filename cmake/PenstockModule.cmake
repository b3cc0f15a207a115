# penstock_module(NAME [TORCH] [APART] [DEPENDS targets] [PRIVATE_DEPENDS targets])
# One static library per module: src/NAME/*.cpp, headers in include/penstock/NAME. APART: its sources give the
# same names to different things, or include themselves, and are never compiled as one.
set(PENSTOCK_MODULES "" CACHE INTERNAL "")

function(penstock_warnings target)
  if(PENSTOCK_WARNINGS)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow -Wnon-virtual-dtor
                           -Woverloaded-virtual
                           -Wno-missing-field-initializers -Werror)
  endif()
endfunction()

# One precompiled header for all torch code. ATen is all that our sources need: 1.5 s a file, where
# torch/torch.h costs 16 s even precompiled, because every file instantiates what it left pending.
function(penstock_torch_pch)
  if(NOT TARGET penstock_pch)
    file(WRITE "${CMAKE_BINARY_DIR}/pch.cpp.in" "")
    configure_file("${CMAKE_BINARY_DIR}/pch.cpp.in" "${CMAKE_BINARY_DIR}/pch.cpp" COPYONLY)
    add_library(penstock_pch OBJECT "${CMAKE_BINARY_DIR}/pch.cpp")
    # The wheel brings its own fmt headers (newer than the system's) but not its symbols: header-only
    # use lets each file take whichever it meets first.
    target_link_libraries(penstock_pch PUBLIC torch fmt::fmt-header-only)
    target_precompile_headers(penstock_pch PRIVATE <ATen/ATen.h>)
  endif()
endfunction()

# GCC takes a precompiled header only with the flags and macros it was made with: a program would get
# -fPIE instead of -fPIC.
function(penstock_use_torch_pch target)
  penstock_torch_pch()
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
  target_link_libraries(${target} PRIVATE fmt::fmt-header-only)
  target_compile_options(${target} PRIVATE -Winvalid-pch)
  target_precompile_headers(${target} REUSE_FROM penstock_pch)
endfunction()

function(penstock_module name)
  cmake_parse_arguments(arg "TORCH;APART" "" "DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/src/${name}/*.cpp")
  set(target penstock_${name})
  add_library(${target} STATIC ${sources})
  add_library(penstock::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target}
    PUBLIC "$<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>"
           "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>"
    PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/src")
  target_link_libraries(${target} PUBLIC ${arg_DEPENDS} PRIVATE ${arg_PRIVATE_DEPENDS})
  penstock_warnings(${target})
  if(arg_TORCH)
    target_link_libraries(${target} PUBLIC torch)
    penstock_use_torch_pch(${target})
  endif()
  # A sanitizer's build is made once and thrown away: headers are walked once for many sources.
  if(PENSTOCK_SANITIZE AND NOT arg_APART)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
  endif()
  set(PENSTOCK_MODULES ${PENSTOCK_MODULES} ${target} CACHE INTERNAL "")
endfunction()
