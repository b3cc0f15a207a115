# libtorch comes from the installed `torch` wheel: .venv of this tree, else the python on the path.
if(NOT Torch_DIR)
  file(GLOB candidates "${CMAKE_CURRENT_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch/share/cmake/Torch")
  if(NOT candidates)
    execute_process(
      COMMAND python3 -c "import torch.utils as u; print(u.cmake_prefix_path + '/Torch')"
      OUTPUT_VARIABLE candidates OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  if(candidates)
    list(GET candidates 0 first)
    set(Torch_DIR "${first}" CACHE PATH "where TorchConfig.cmake is")
  endif()
endif()
# The wheel's package file warns of a profiler library that no wheel contains.
set(CMAKE_MESSAGE_LOG_LEVEL ERROR)
find_package(Torch QUIET)
unset(CMAKE_MESSAGE_LOG_LEVEL)
if(TARGET caffe2::mkl)
  # Folders of an MKL that the wheel was built beside, /lib/intel64 and the like, would become places to load from.
  set_target_properties(caffe2::mkl PROPERTIES INTERFACE_LINK_DIRECTORIES "")
endif()
if(NOT Torch_FOUND)
  message(FATAL_ERROR "libtorch was not found. Run scripts/bootstrap, or install torch==2.13.0 with "
                      "pip, or pass -DTorch_DIR=.../torch/share/cmake/Torch. What acts with a trained policy needs "
                      "none of it: -DPENSTOCK_TORCH=OFF.")
endif()
