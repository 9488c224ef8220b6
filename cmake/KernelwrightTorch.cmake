# LibTorch, in this order: -DTorch_DIR=…; the torch of the active Python environment; Debian's libtorch-dev.
# Only files that include torch headers link kernelwright_torch; its headers count as system headers.
if(NOT Torch_DIR)
    find_program(KERNELWRIGHT_PYTHON NAMES python3)
    if(KERNELWRIGHT_PYTHON)
        execute_process(COMMAND ${KERNELWRIGHT_PYTHON} -c "import torch.utils as u; print(u.cmake_prefix_path)"
                        OUTPUT_VARIABLE python_torch OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
                        RESULT_VARIABLE python_torch_missing)
        if(NOT python_torch_missing AND EXISTS "${python_torch}/Torch/TorchConfig.cmake")
            set(Torch_DIR "${python_torch}/Torch" CACHE PATH "LibTorch's CMake package")
        endif()
    endif()
endif()
# Where another LibTorch is installed too, TorchConfig.cmake finds parts of that one first: its second package, Caffe2,
# and libc10. Both are given to it beforehand.
if(Torch_DIR AND EXISTS "${Torch_DIR}/../Caffe2/Caffe2Config.cmake")
    get_filename_component(caffe2 "${Torch_DIR}/../Caffe2" ABSOLUTE)
    set(Caffe2_DIR "${caffe2}" CACHE PATH "The part of LibTorch beside Torch_DIR" FORCE)
    unset(c10_LIBRARY CACHE)
    find_library(c10_LIBRARY c10 PATHS "${Torch_DIR}/../../../lib" NO_DEFAULT_PATH)
endif()
# A CUDA build of LibTorch would compile and run a program to find out the GPUs of this machine, for flags of CUDA sources
# that this project does not have; naming any architecture spares that.
if(NOT DEFINED TORCH_CUDA_ARCH_LIST)
    set(TORCH_CUDA_ARCH_LIST "8.0")
endif()
find_package(Torch QUIET)
if(NOT Torch_FOUND)
    message(FATAL_ERROR "LibTorch was not found: install libtorch-dev, activate a Python environment that has torch, "
                        "or pass -DTorch_DIR=… (the folder of TorchConfig.cmake).")
endif()
message(STATUS "LibTorch ${Torch_VERSION} at ${Torch_DIR}")
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
    # at::RecordFunction has another layout without NDEBUG than inside the released library.
    message(STATUS "Debug build: files that include torch headers are still compiled with -DNDEBUG.")
endif()

add_library(kernelwright_torch INTERFACE)
target_link_libraries(kernelwright_torch INTERFACE ${TORCH_LIBRARIES})
target_include_directories(kernelwright_torch SYSTEM INTERFACE ${TORCH_INCLUDE_DIRS})
target_compile_definitions(kernelwright_torch INTERFACE NDEBUG)
separate_arguments(torch_flags UNIX_COMMAND "${TORCH_CXX_FLAGS}")
target_compile_options(kernelwright_torch INTERFACE ${torch_flags})
# LibTorch from a Python package brings its own NCCL and finds it at run time; the linker would look for its symbols in an
# older one of the system and refuse.
target_link_options(kernelwright_torch INTERFACE "LINKER:--allow-shlib-undefined")
# PyTorch 2.8 to 2.11 export functions of an older std::filesystem, which crash when this compiler's code calls them: the
# system's libstdc++ has to come first where the loader looks.
target_link_options(kernelwright_torch INTERFACE "LINKER:--push-state,--no-as-needed,-lstdc++,--pop-state")
