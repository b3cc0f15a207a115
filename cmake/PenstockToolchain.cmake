# Compiler settings shared by every target of this tree, and by none of a project around it.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(BUILD_SHARED_LIBS AND PROJECT_IS_TOP_LEVEL)
  message(FATAL_ERROR "BUILD_SHARED_LIBS=ON: Penstock is built as static archives only, as its modules promise no "
                      "binary interface. They are position-independent: link them into a shared library of your own.")
endif()

if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
  endif()
  include(PenstockFastBuild)
endif()

# One rounding per operation, so that a fused multiply-add chosen by the compiler in one place and
# not in another cannot change results between builds.
add_compile_options(-ffp-contract=off)

# What makes a fault of ours harder to use: canaries, checked copies, tables that are read-only before main() begins. A
# sanitizer checks more than all of these, and wants to be alone.
if(PROJECT_IS_TOP_LEVEL AND NOT PENSTOCK_SANITIZE)
  add_compile_options(-fstack-protector-strong $<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE>
                      $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=3>)
endif()
if(PROJECT_IS_TOP_LEVEL AND NOT PENSTOCK_SANITIZE)
  # The same bytes wherever the tree lies, and no path of the build machine in them.
  add_compile_options("-ffile-prefix-map=${CMAKE_SOURCE_DIR}=." "-ffile-prefix-map=${CMAKE_BINARY_DIR}=build"
                      $<$<CONFIG:Debug>:-D_GLIBCXX_ASSERTIONS>)
  add_link_options(LINKER:-z,relro,-z,now)
endif()

if(PENSTOCK_SANITIZE)
  # vptr checks need type information that the torch libraries do not export. toml++ 3.3 calls a place
  # unreachable that non-ASCII text outside of strings reaches; what follows there is harmless. Highway's exponential of
  # a NaN, on processors without vectors, makes a whole number of it and throws that away.
  set(sanitize -fsanitize=${PENSTOCK_SANITIZE} -fno-sanitize=vptr,unreachable,float-cast-overflow)
  add_compile_options(${sanitize} -fno-omit-frame-pointer)
  add_link_options(${sanitize})
endif()

# For the modules without libtorch, of which the fuzz targets are made: what an input reaches is counted, and two of the
# checks above are on again, but in the headers of others that gave the reason to leave them out.
set(PENSTOCK_FUZZ_FLAGS "")
if(PENSTOCK_FUZZ)
  list(APPEND PENSTOCK_FUZZ_FLAGS -fsanitize=fuzzer-no-link)
  if(PENSTOCK_SANITIZE)
    list(APPEND PENSTOCK_FUZZ_FLAGS -fsanitize=unreachable,float-cast-overflow -fno-sanitize-recover=all
         "-fsanitize-ignorelist=${CMAKE_SOURCE_DIR}/fuzz/ignore.txt")
  endif()
endif()
