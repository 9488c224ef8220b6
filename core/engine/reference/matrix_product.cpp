// SPDX-License-Identifier: GPL-3.0-or-later
#include "matrix_product.h"

#include "executor.h"
#include "torch_tensors.h"

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/InferenceMode.h>

namespace kernelwright
{

namespace
{
/// TF32 in matrix products for as long as this object lives.
class Tf32Products
{
public:
    explicit Tf32Products(bool allowed)
        : former_(at::globalContext().allowTF32CuBLAS())
    {
        at::globalContext().setAllowTF32CuBLAS(allowed);
    }
    ~Tf32Products() { at::globalContext().setAllowTF32CuBLAS(former_); }
    Tf32Products(const Tf32Products &) = delete;
    Tf32Products &operator=(const Tf32Products &) = delete;

private:
    bool former_;
};

at::Tensor matrix(at::ScalarType type, std::int64_t size, const std::string &device)
{
    const auto options = at::TensorOptions().device(c10::Device(device));
    // Random numbers: a GPU draws less power, and clocks higher, on zeros.
    const at::Tensor numbers = at::randn({size, size}, options.dtype(at::kFloat));
    return type == at::kChar ? numbers.mul(20).to(type) : numbers.to(type);
}
} // namespace

Result<std::function<Result<void>()>> prepareMatrixProduct(const std::string &torchDevice, DType dtype,
                                                           bool tf32, std::int64_t size)
{
    if (!torchHasCuda()) return fail(ErrorCode::NotSupported, "this LibTorch has no CUDA");
    const std::optional<c10::ScalarType> type = torchDType(dtype);
    if (!type) return fail(ErrorCode::NotSupported, "this LibTorch has no such element type");
    const char *name = *type == at::kChar ? "aten::_int_mm" : "aten::mm";
    const auto op = c10::Dispatcher::singleton().findSchema({name, ""});
    if (!op) return fail(ErrorCode::NotSupported, std::string("this LibTorch has no ") + name);
    try {
        const c10::InferenceMode inference;
        const at::Tensor a = matrix(*type, size, torchDevice);
        const at::Tensor b =
            matrix(*type, size, torchDevice).t(); // the layout that every type's kernels know
        return std::function<Result<void>()>([a, b, op, tf32]() -> Result<void> {
            try {
                const c10::InferenceMode inferenceHere;
                const Tf32Products precision(tf32);
                torch::jit::Stack stack{a, b};
                op->callBoxed(&stack);
                return {};
            } catch (const std::exception &error) {
                return fail(ErrorCode::NotSupported, "the matrix product: " + describeTorchError(error));
            }
        });
    } catch (const std::exception &error) {
        return fail(ErrorCode::NotSupported, "the matrices: " + describeTorchError(error));
    }
}

} // namespace kernelwright
