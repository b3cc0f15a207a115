# penstock_module(FOLDER [TORCH] [APART] [LEAN] "what it holds" [DEPENDS targets] [PRIVATE_DEPENDS targets])
# One static library per module: src/FOLDER/*.cpp, headers in include/penstock/FOLDER. TORCH: may include torch. APART:
# its sources are never compiled as one, as they include themselves or give the same names to different things. LEAN:
# only under a sanitizer, as a small program of what users have is to carry only those that it needs.
#
# Two global properties hold what was said, each after what it depends on: PENSTOCK_MODULES, the targets, and
# PENSTOCK_LEFT_OUT, the names of the modules that need libtorch in a build without it.

function(penstock_warnings target)
  if(PENSTOCK_WARNINGS)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow -Wnon-virtual-dtor
                           -Woverloaded-virtual
                           -Wno-missing-field-initializers -Werror)
  endif()
endfunction()

# The torch wheel brings fmt's headers, newer than the system's, but not the symbols they declare. Compiled into every
# file, fmt costs 6 s of each: the system's headers are put in front, and its library is linked.
function(penstock_use_system_fmt target)
  get_target_property(folders fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
  foreach(folder ${folders})
    if(EXISTS "${folder}/fmt/format.h")
      file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/system_fmt")
      file(CREATE_LINK "${folder}/fmt" "${PROJECT_BINARY_DIR}/system_fmt/fmt" SYMBOLIC)
    endif()
  endforeach()
  target_include_directories(${target} BEFORE PRIVATE "${PROJECT_BINARY_DIR}/system_fmt")
  target_link_libraries(${target} PRIVATE fmt::fmt)
endfunction()

# One precompiled header for all torch code. ATen is all that our sources need: 1.5 s a file, where
# torch/torch.h costs 16 s even precompiled, because every file instantiates what it left pending.
function(penstock_torch_pch)
  if(NOT TARGET penstock_pch)
    file(WRITE "${PROJECT_BINARY_DIR}/pch.cpp.in" "")
    configure_file("${PROJECT_BINARY_DIR}/pch.cpp.in" "${PROJECT_BINARY_DIR}/pch.cpp" COPYONLY)
    add_library(penstock_pch OBJECT "${PROJECT_BINARY_DIR}/pch.cpp")
    target_link_libraries(penstock_pch PUBLIC torch)
    penstock_use_system_fmt(penstock_pch)
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
  penstock_use_system_fmt(${target})
  target_compile_options(${target} PRIVATE -Winvalid-pch)
  target_precompile_headers(${target} REUSE_FROM penstock_pch)
endfunction()

# Whether PENSTOCK_TORCH=OFF leaves a module out: it uses libtorch, or needs a module that does.
function(penstock_is_left_out result uses_torch depends)
  set(${result} OFF PARENT_SCOPE)
  if(PENSTOCK_TORCH)
    return()
  endif()
  get_property(left_out GLOBAL PROPERTY PENSTOCK_LEFT_OUT)
  list(TRANSFORM left_out PREPEND penstock::)
  foreach(needed ${depends})
    if(needed IN_LIST left_out)
      set(uses_torch ON)
    endif()
  endforeach()
  set(${result} ${uses_torch} PARENT_SCOPE)
endfunction()

# The package of a target is its namespace: fmt::fmt is of fmt, Eigen3::Eigen of Eigen3. CMake's own SQLite::SQLite3 is
# the exception. Sets RESULT, empty for penstock's own and for what is not a target of a package.
function(penstock_package_of result needed)
  set(package "")
  if(needed MATCHES "^([A-Za-z0-9_]+)::" AND NOT CMAKE_MATCH_1 STREQUAL "penstock")
    string(REGEX REPLACE "^SQLite$" "SQLite3" package "${CMAKE_MATCH_1}")
  endif()
  set(${result} "${package}" PARENT_SCOPE)
endfunction()

function(penstock_find_packages)
  foreach(needed ${ARGN})
    penstock_package_of(package ${needed})
    if(package AND NOT TARGET ${needed})
      find_package(${package} REQUIRED)
    endif()
  endforeach()
endfunction()

# A parent project that links a module meets the packages behind it, which were found in this folder.
function(penstock_share_imported_targets)
  get_directory_property(imported IMPORTED_TARGETS)
  set_target_properties(${imported} PROPERTIES IMPORTED_GLOBAL ON)
endfunction()

# Of PRIVATE_DEPENDS, what is nothing but headers is of no concern to those who link the archive.
function(penstock_link_privately target)
  foreach(needed ${ARGN})
    get_target_property(type ${needed} TYPE)
    get_target_property(links ${needed} INTERFACE_LINK_LIBRARIES)
    if(type STREQUAL "INTERFACE_LIBRARY" AND NOT links)
      target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:${needed}>)
    else()
      target_link_libraries(${target} PRIVATE ${needed})
    endif()
  endforeach()
endfunction()

function(penstock_module folder)
  cmake_parse_arguments(arg "TORCH;APART;LEAN" "" "DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  string(REGEX REPLACE "^[a-z]+/(.*)$" "\\1" name "${folder}")
  string(REPLACE "/" "_" name "${name}")
  penstock_is_left_out(left_out ${arg_TORCH} "${arg_DEPENDS}")
  if(left_out)
    set_property(GLOBAL APPEND PROPERTY PENSTOCK_LEFT_OUT ${name})
    return()
  endif()
  penstock_find_packages(${arg_DEPENDS} ${arg_PRIVATE_DEPENDS})
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/src/${folder}/*.cpp")
  set(target penstock_${name})
  add_library(${target} STATIC ${sources})
  add_library(penstock::${name} ALIAS ${target})
  set_property(GLOBAL APPEND PROPERTY PENSTOCK_MODULES ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} PENSTOCK_FOLDER ${folder})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target}
    PUBLIC "$<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include;${PROJECT_BINARY_DIR}/include>"
           "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>"
    PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/src")
  target_link_libraries(${target} PUBLIC ${arg_DEPENDS})
  penstock_link_privately(${target} ${arg_PRIVATE_DEPENDS})
  penstock_warnings(${target})
  if("fmt::fmt" IN_LIST arg_PRIVATE_DEPENDS)
    penstock_use_system_fmt(${target})
  endif()
  if(arg_TORCH)
    target_link_libraries(${target} PUBLIC torch)
    penstock_use_torch_pch(${target})
  else()
    # A plugin made of these archives exports its own names, not theirs. Torch code goes without: one precompiled
    # header serves it and the programs.
    set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden)
    target_compile_options(${target} PRIVATE ${PENSTOCK_FUZZ_FLAGS})
  endif()
  if(PENSTOCK_UNITY AND NOT arg_APART AND (PENSTOCK_SANITIZE OR NOT arg_LEAN))
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
    if(arg_LEAN)  # a struct of a source keeps what is hidden in that source; GCC takes the source for a header
      target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
    endif()
  endif()
  # Inside another project only what it links is built.
  if(NOT PENSTOCK_INSTALL)
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
endfunction()

# penstock_embed(FOLDER files...): texts of src/FOLDER that its sources include as string literals, by the file's name
# and ".inc". A changed one configures the build again.
function(penstock_embed folder)
  foreach(name ${ARGN})
    set(file "${CMAKE_CURRENT_SOURCE_DIR}/src/${folder}/${name}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
    file(READ "${file}" text)
    file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/embedded/${folder}/${name}.inc"
         CONTENT "R\"embedded(@text@)embedded\"\n" @ONLY)
  endforeach()
  string(REGEX REPLACE "^[a-z]+/(.*)$" "\\1" name "${folder}")
  string(REPLACE "/" "_" name "${name}")
  if(TARGET penstock_${name})
    target_include_directories(penstock_${name} PRIVATE "${PROJECT_BINARY_DIR}/embedded")
  endif()
endfunction()

# penstock_use_libpq(MODULE): with libpq's header if it is here. The library is loaded when it is needed, never linked.
function(penstock_use_libpq module)
  find_path(PENSTOCK_LIBPQ libpq-fe.h PATH_SUFFIXES postgresql)
  mark_as_advanced(PENSTOCK_LIBPQ)
  if(NOT PENSTOCK_LIBPQ)
    message(STATUS "Without PostgreSQL as a store of bookings: libpq-fe.h was not found (libpq-dev)")
  elseif(TARGET penstock_${module})
    target_include_directories(penstock_${module} SYSTEM PRIVATE "${PENSTOCK_LIBPQ}")
    target_compile_definitions(penstock_${module} PRIVATE PENSTOCK_POSTGRESQL)
    target_link_libraries(penstock_${module} PRIVATE ${CMAKE_DL_LIBS})
  endif()
endfunction()
