# The parts of the CUDA toolkit that the engine uses. NVRTC is linked; libcuda, CUPTI and NVML are opened with dlopen at
# run time, so that the engine starts on a machine without a driver: of those only the headers are needed here.
find_package(CUDAToolkit 11.8 QUIET)
if(NOT CUDAToolkit_FOUND)
    message(FATAL_ERROR "The CUDA toolkit was not found: install CUDA 11.8 or newer (or Debian's nvidia-cuda-toolkit), "
                        "or pass -DCUDAToolkit_ROOT=….")
endif()
find_path(CUPTI_INCLUDE_DIR cupti.h HINTS ${CUDAToolkit_INCLUDE_DIRS} ${CUDAToolkit_ROOT}/extras/CUPTI/include
          ${CUDAToolkit_LIBRARY_ROOT}/extras/CUPTI/include)
add_library(kernelwright_cuda_headers INTERFACE)
target_include_directories(kernelwright_cuda_headers SYSTEM INTERFACE ${CUDAToolkit_INCLUDE_DIRS} ${CUPTI_INCLUDE_DIR})
find_library(NVRTC_LIBRARY nvrtc HINTS ${CUDAToolkit_LIBRARY_DIR} ${CUDAToolkit_LIBRARY_ROOT}/lib64)
if(NOT NVRTC_LIBRARY)
    message(FATAL_ERROR "NVRTC was not found beside the CUDA toolkit in ${CUDAToolkit_LIBRARY_DIR}.")
endif()
add_library(kernelwright_nvrtc INTERFACE)
target_link_libraries(kernelwright_nvrtc INTERFACE kernelwright_cuda_headers ${NVRTC_LIBRARY})
# NVRTC opens its own libnvrtc-builtins by name while it compiles. Where the toolkit is not in the system's library path
# only the program's DT_RPATH leads there; the linker's default, DT_RUNPATH, does not count for what libraries open.
target_link_options(kernelwright_nvrtc INTERFACE -Wl,--disable-new-dtags)
