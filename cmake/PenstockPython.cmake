# The interpreter that the extension is for, and the libtorch of its torch package: a wheel must be built with the
# one it will run with. pip's build isolation hides that package behind PYTHONPATH, so the question is asked
# without it.
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)
if(NOT Torch_DIR)
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -E env --unset=PYTHONPATH "${Python_EXECUTABLE}" -c
            "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"
    OUTPUT_VARIABLE torch_folder OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT torch_folder)
    message(FATAL_ERROR "${Python_EXECUTABLE} has no torch. First run: pip install torch==2.13.0. A build in an "
                        "environment of its own (python -m build, uv) hides it: pass --no-isolation or "
                        "--no-build-isolation.")
  endif()
  set(Torch_DIR "${torch_folder}/share/cmake/Torch" CACHE PATH "where TorchConfig.cmake is")
endif()
