// SPDX-License-Identifier: GPL-3.0-or-later
#include "torch_cuda.h"

#include "executor.h"
#include "torch_tensors.h"

#include <c10/core/Device.h>
#include <c10/core/Stream.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace kernelwright
{

namespace
{
/// Makes a stream LibTorch's current one, and the former one again.
class CurrentStream
{
public:
    CurrentStream(c10::Device device, c10::Stream stream)
        : implementation_(device.type())
        , former_(implementation_.exchangeStream(stream))
    {}
    ~CurrentStream() { implementation_.exchangeStream(former_); }
    CurrentStream(const CurrentStream &) = delete;
    CurrentStream &operator=(const CurrentStream &) = delete;

private:
    c10::impl::VirtualGuardImpl implementation_;
    c10::Stream former_;
};
} // namespace

Result<void> runOnTorchStream(const std::string &torchDevice, std::uint64_t stream,
                              const std::function<Result<void>()> &work)
{
    if (!torchHasCuda()) return fail(ErrorCode::NotSupported, "this LibTorch has no CUDA");
    try {
        const c10::Device device(torchDevice);
        // Streams that LibTorch has not made itself are known to it by their handle.
        const c10::Stream foreign(c10::Stream::UNSAFE, device, static_cast<c10::StreamId>(stream));
        const CurrentStream current(device, foreign);
        return work();
    } catch (const std::exception &error) {
        return fail(ErrorCode::NotSupported, "LibTorch cannot use the stream: " + describeTorchError(error));
    }
}

} // namespace kernelwright
