// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample_tasks.h"

#include "graph_text.h"

#include <cstdio>
#include <cstdlib>

namespace kernelwright
{

const std::vector<SampleTask> &sampleTasks()
{
    static const std::vector<SampleTask> tasks = {
        {"relu", R"(input x float32[6, 50]
y = aten::relu(self=%x) -> float32[6, 50]
output y)"},
        {"swiglu", R"(input gate float32[1, 64, 344]
input up float32[1, 64, 344]
silu = aten::silu(self=%gate) -> float32[1, 64, 344]
y = aten::mul.Tensor(self=%silu, other=%up) -> float32[1, 64, 344]
output y)"},
        {"bias gelu half", R"(input x float16[8, 256]
parameter bias float16[256]
sum = aten::add.Tensor(self=%x, other=%bias) -> float16[8, 256]
y = aten::gelu(self=%sum, approximate="none") -> float16[8, 256]
output y)"},
        {"new gelu", R"(input x float32[2, 16, 128]
half = aten::mul.Tensor(self=%x, other=0.5) -> float32[2, 16, 128]
cube = aten::pow.Tensor_Scalar(self=%x, exponent=3.0) -> float32[2, 16, 128]
scaled = aten::mul.Tensor(self=%cube, other=0.044715) -> float32[2, 16, 128]
inner = aten::add.Tensor(self=%x, other=%scaled) -> float32[2, 16, 128]
u = aten::mul.Tensor(self=%inner, other=0.7978845608028654) -> float32[2, 16, 128]
tanh = aten::tanh(self=%u) -> float32[2, 16, 128]
one = aten::add.Tensor(self=%tanh, other=1.0) -> float32[2, 16, 128]
y = aten::mul.Tensor(self=%half, other=%one) -> float32[2, 16, 128]
output y)"},
        {"novel activation", R"(input x float32[4, 10, 96]
parameter a float32[1]
parts = aten::chunk(self=%x, chunks=2, dim=-1) -> list
one = prim::getitem(list=%parts, index=0) -> float32[4, 10, 48]
two = prim::getitem(list=%parts, index=1) -> float32[4, 10, 48]
softplus = aten::softplus(self=%one) -> float32[4, 10, 48]
tanh = aten::tanh(self=%softplus) -> float32[4, 10, 48]
product = aten::mul.Tensor(self=%one, other=%tanh) -> float32[4, 10, 48]
sin = aten::sin(self=%one) -> float32[4, 10, 48]
square = aten::pow.Tensor_Scalar(self=%sin, exponent=2) -> float32[4, 10, 48]
bent = aten::mul.Tensor(self=%a, other=%square) -> float32[4, 10, 48]
sum = aten::add.Tensor(self=%product, other=%bent) -> float32[4, 10, 48]
gate = aten::sigmoid(self=%two) -> float32[4, 10, 48]
y = aten::mul.Tensor(self=%sum, other=%gate) -> float32[4, 10, 48]
output y)"},
        {"rotary embedding", R"(input q float32[1, 4, 16, 32]
input cos float32[1, 16, 32]
input sin float32[1, 16, 32]
c = aten::unsqueeze(self=%cos, dim=1) -> float32[1, 1, 16, 32]
s = aten::unsqueeze(self=%sin, dim=1) -> float32[1, 1, 16, 32]
straight = aten::mul.Tensor(self=%q, other=%c) -> float32[1, 4, 16, 32]
first = aten::slice.Tensor(self=%q, dim=3, start=0, end=16) -> float32[1, 4, 16, 16]
second = aten::slice.Tensor(self=%q, dim=3, start=16, end=9223372036854775807) -> float32[1, 4, 16, 16]
neg = aten::neg(self=%second) -> float32[1, 4, 16, 16]
turned = aten::cat(tensors=[%neg, %first], dim=-1) -> float32[1, 4, 16, 32]
across = aten::mul.Tensor(self=%turned, other=%s) -> float32[1, 4, 16, 32]
y = aten::add.Tensor(self=%straight, other=%across) -> float32[1, 4, 16, 32]
output y)"},
        {"transposed input", R"(input x float32[16, 24] strides [1, 16]
input z float32[16, 24]
y = aten::sub.Tensor(self=%x, other=%z, alpha=2) -> float32[16, 24]
output y)"},
        {"halves of something wider", R"(input x float32[4, 5, 48] strides [480, 96, 1]
input z float32[4, 5, 48] strides [480, 96, 1]
sigmoid = aten::sigmoid(self=%z) -> float32[4, 5, 48]
y = aten::mul.Tensor(self=%x, other=%sigmoid) -> float32[4, 5, 48]
output y)"},
        {"heads apart", R"(input x float32[2, 16, 128]
view = aten::view(self=%x, size=[2, 16, -1, 32]) -> float32[2, 16, 4, 32]
t = aten::transpose.int(self=%view, dim0=1, dim1=2) -> float32[2, 4, 16, 32]
y = aten::mul.Tensor(self=%t, other=0.125) -> float32[2, 4, 16, 32]
output y)"},
        {"masked scores", R"(input x float32[2, 4, 16, 16]
input mask bool[2, 1, 1, 16]
scaled = aten::div.Tensor(self=%x, other=8.0) -> float32[2, 4, 16, 16]
not = aten::logical_not(self=%mask) -> bool[2, 1, 1, 16]
filled = aten::masked_fill.Scalar(self=%scaled, mask=%not, value=-10000.0) -> float32[2, 4, 16, 16]
y = aten::clamp(self=%filled, min=-50.0, max=50.0) -> float32[2, 4, 16, 16]
output y)"},
        {"integers", R"(input x int64[5, 33]
input z int64[33]
sum = aten::add.Tensor(self=%x, other=%z, alpha=3) -> int64[5, 33]
equal = aten::ge.Scalar(self=%sum, other=4) -> bool[5, 33]
y = aten::where.self(condition=%equal, self=%sum, other=%z) -> int64[5, 33]
output y, equal)"},
        {"double", R"(input x float64[3, 40]
exp = aten::exp(self=%x) -> float64[3, 40]
y = aten::log1p(self=%exp) -> float64[3, 40]
output y)"},
        {"sum of rows", R"(input x float32[64, 200]
y = aten::sum.dim_IntList(self=%x, dim=[-1]) -> float32[64]
output y)"},
        {"sum of columns", R"(input x float32[100, 64]
y = aten::sum.dim_IntList(self=%x, dim=[0]) -> float32[64]
output y)"},
        {"mean of all", R"(input x float32[30, 20]
y = aten::mean(self=%x) -> float32[]
output y)"},
        {"rms norm", R"(input x float32[1, 64, 128]
parameter weight float32[128]
square = aten::pow.Tensor_Scalar(self=%x, exponent=2) -> float32[1, 64, 128]
mean = aten::mean.dim(self=%square, dim=[-1], keepdim=true) -> float32[1, 64, 1]
shifted = aten::add.Tensor(self=%mean, other=0.000001) -> float32[1, 64, 1]
scale = aten::rsqrt(self=%shifted) -> float32[1, 64, 1]
scaled = aten::mul.Tensor(self=%x, other=%scale) -> float32[1, 64, 128]
y = aten::mul.Tensor(self=%weight, other=%scaled) -> float32[1, 64, 128]
output y)"},
        {"residual layer norm", R"(input x float16[2, 16, 96]
input residual float16[2, 16, 96]
parameter weight float16[96]
parameter bias float16[96]
sum = aten::add.Tensor(self=%x, other=%residual) -> float16[2, 16, 96]
y = aten::layer_norm(input=%sum, normalized_shape=[96], weight=%weight, bias=%bias, eps=0.00001) -> float16[2, 16, 96]
output sum, y)"},
        {"layer norm softmax", R"(input x float32[4, 16, 64]
parameter weight float32[64]
parameter bias float32[64]
norm = aten::layer_norm(input=%x, normalized_shape=[64], weight=%weight, bias=%bias, eps=0.00001) -> float32[4, 16, 64]
y = aten::softmax.int(self=%norm, dim=-1) -> float32[4, 16, 64]
output y)"},
        {"softmax half", R"(input x float16[32, 512]
y = aten::softmax.int(self=%x, dim=-1) -> float16[32, 512]
output y)"},
        {"log softmax", R"(input x bfloat16[12, 100]
y = aten::log_softmax.int(self=%x, dim=-1) -> bfloat16[12, 100]
output y)"},
        {"softmax of the first dimension", R"(input x float32[40, 70]
y = aten::softmax.int(self=%x, dim=0) -> float32[40, 70]
output y)"},
        {"variance and mean", R"(input x float32[10, 70]
y = aten::var.correction(self=%x, dim=[1], correction=1) -> float32[10]
mean = aten::mean.dim(self=%x, dim=[1]) -> float32[10]
output y, mean)"},
        {"maximum and where", R"(input x float32[9, 45]
y, at = aten::max.dim(self=%x, dim=1) -> float32[9], int64[9]
output y, at)"},
        {"two kernels", R"(input x float32[6, 8, 32]
norm = aten::softmax.int(self=%x, dim=-1) -> float32[6, 8, 32]
t = aten::transpose.int(self=%norm, dim0=0, dim1=1) -> float32[8, 6, 32]
parts = aten::split.Tensor(self=%x, split_size=16, dim=-1) -> list
half = prim::getitem(list=%parts, index=0) -> float32[6, 8, 16]
other = prim::getitem(list=%parts, index=1) -> float32[6, 8, 16]
y = aten::mul.Tensor(self=%half, other=%other) -> float32[6, 8, 16]
output t, y)"},
        {"linear", R"(input x float32[2, 10, 24]
parameter weight float32[40, 24]
parameter bias float32[40]
y = aten::linear(input=%x, weight=%weight, bias=%bias) -> float32[2, 10, 40]
output y)"},
        {"linear gelu half", R"(input x float16[24, 64]
parameter weight float16[48, 64]
parameter bias float16[48]
product = aten::linear(input=%x, weight=%weight, bias=%bias) -> float16[24, 48]
y = aten::gelu(self=%product, approximate="none") -> float16[24, 48]
output y)"},
        {"addmm residual", R"(input x float32[20, 36]
parameter weight float32[36, 28]
parameter bias float32[28]
input residual float32[20, 28]
product = aten::addmm(self=%bias, mat1=%x, mat2=%weight) -> float32[20, 28]
y = aten::add.Tensor(self=%product, other=%residual) -> float32[20, 28]
output y)"},
        {"product of an activation", R"(input gate bfloat16[3, 8, 32]
input up bfloat16[3, 8, 32]
parameter weight bfloat16[16, 32]
silu = aten::silu(self=%gate) -> bfloat16[3, 8, 32]
wide = aten::mul.Tensor(self=%silu, other=%up) -> bfloat16[3, 8, 32]
y = aten::linear(input=%wide, weight=%weight) -> bfloat16[3, 8, 16]
output y)"},
        {"scores of attention", R"(input q float32[2, 3, 12, 16]
input k float32[2, 3, 20, 16]
t = aten::transpose.int(self=%k, dim0=2, dim1=3) -> float32[2, 3, 16, 20]
product = aten::matmul(self=%q, other=%t) -> float32[2, 3, 12, 20]
y = aten::mul.Tensor(self=%product, other=0.25) -> float32[2, 3, 12, 20]
output y)"},
        {"product with a vector", R"(input x float32[5, 7, 33]
parameter v float32[33]
y = aten::matmul(self=%x, other=%v) -> float32[5, 7]
output y)"},
        {"attention", R"(input query float32[2, 3, 20, 16]
input key float32[2, 3, 44, 16]
input value float32[2, 3, 44, 24]
y = aten::scaled_dot_product_attention(query=%query, key=%key, value=%value) -> float32[2, 3, 20, 24]
output y)"},
        {"causal attention half", R"(input query float16[1, 4, 40, 32]
input key float16[1, 4, 40, 32]
input value float16[1, 4, 40, 32]
attended = aten::scaled_dot_product_attention(query=%query, key=%key, value=%value, is_causal=true) -> float16[1, 4, 40, 32]
y = aten::transpose.int(self=%attended, dim0=1, dim1=2) -> float16[1, 40, 4, 32]
output y)"},
        {"attention by hand", R"(input query float32[1, 2, 12, 40]
input key float32[1, 2, 33, 40]
input value float32[1, 2, 33, 40]
input mask float32[1, 1, 12, 33]
t = aten::transpose.int(self=%key, dim0=2, dim1=3) -> float32[1, 2, 40, 33]
product = aten::matmul(self=%query, other=%t) -> float32[1, 2, 12, 33]
scaled = aten::div.Tensor(self=%product, other=6.3) -> float32[1, 2, 12, 33]
masked = aten::add.Tensor(self=%scaled, other=%mask) -> float32[1, 2, 12, 33]
weights = aten::softmax.int(self=%masked, dim=-1) -> float32[1, 2, 12, 33]
y = aten::matmul(self=%weights, other=%value) -> float32[1, 2, 12, 40]
output y)"},
        {"convolution", R"(input x float32[1, 4, 8, 8]
parameter weight float32[4, 4, 3, 3]
y = aten::convolution(input=%x, weight=%weight, stride=[1, 1], padding=[1, 1], dilation=[1, 1], transposed=false, output_padding=[0, 0], groups=1) -> float32[1, 4, 8, 8]
output y)",
         true},
        {"two dimensions that share no rows", R"(input x float32[8, 16]
a = aten::softmax.int(self=%x, dim=0) -> float32[8, 16]
y = aten::softmax.int(self=%a, dim=1) -> float32[8, 16]
output y)",
         true},
    };
    return tasks;
}

Task taskFromText(const std::string &text, const std::string &kind)
{
    const OperatorGraph graph = graphFromText(text);
    std::vector<NodeId> nodes;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
        nodes.push_back(static_cast<NodeId>(i));
    const Result<Task> task = cutTask(graph, nodes, "A sample", kind);
    if (!task) {
        std::fprintf(stderr, "a test's task cannot be cut: %s\n", task.error().message.c_str());
        std::abort();
    }
    return *task;
}

Task sampleTask(const std::string &name)
{
    for (const SampleTask &sample : sampleTasks())
        if (sample.name == name) return taskFromText(sample.graph);
    std::fprintf(stderr, "there is no sample task '%s'\n", name.c_str());
    std::abort();
}

} // namespace kernelwright
