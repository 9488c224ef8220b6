// SPDX-License-Identifier: GPL-3.0-or-later
#include "cuda_source.h"

#include <QTest>
#include <nvrtc.h>

#include <vector>

namespace kernelwright
{

std::string compileToPtx(const std::string &source, bool fastMath)
{
    nvrtcProgram program = nullptr;
    if (nvrtcCreateProgram(&program, source.c_str(), "kernel.cu", 0, nullptr, nullptr) != NVRTC_SUCCESS)
        qFatal("NVRTC could not make a program");
    const std::string include = "--include-path=" CUDA_INCLUDE_DIRECTORY, core = include + "/cccl";
    std::vector<const char *> options{"--gpu-architecture=compute_90", "-lineinfo", "--std=c++17",
                                      include.c_str(), core.c_str()};
    if (fastMath) options.push_back("--use_fast_math");
    const nvrtcResult result = nvrtcCompileProgram(program, static_cast<int>(options.size()), options.data());
    std::size_t size = 0;
    nvrtcGetProgramLogSize(program, &size);
    std::string log(size, '\0');
    nvrtcGetProgramLog(program, log.data());
    if (result != NVRTC_SUCCESS) qFatal("%s", log.c_str());
    nvrtcGetPTXSize(program, &size);
    std::string ptx(size, '\0');
    nvrtcGetPTX(program, ptx.data());
    nvrtcDestroyProgram(&program);
    ptx.resize(ptx.find('\0') == std::string::npos ? ptx.size() : ptx.find('\0'));
    return ptx;
}

} // namespace kernelwright
