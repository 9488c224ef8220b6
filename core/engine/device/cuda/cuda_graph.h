// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cuda_context.h"

#include <cstdint>
#include <functional>
#include <memory>

namespace kernelwright::cuda
{

/// The stream on which everything that is to become a graph is recorded. One for all graphs of a device: an
/// allocator that keeps free memory by stream then re-uses it from one recording to the next, and gives the
/// addresses in a graph to nobody but other recordings, whose graphs run at other times.
class RecordingStream
{
public:
    static Result<std::shared_ptr<RecordingStream>> create(std::shared_ptr<CudaContext> context);
    ~RecordingStream();
    RecordingStream(const RecordingStream &) = delete;
    RecordingStream &operator=(const RecordingStream &) = delete;

    CUstream handle() const { return stream_; }
    CudaContext &context() const { return *context_; }

private:
    explicit RecordingStream(std::shared_ptr<CudaContext> context)
        : context_(std::move(context))
    {}

    std::shared_ptr<CudaContext> context_;
    CUstream stream_ = nullptr;
};

/// A CUDA graph recorded from what some work enqueues.
class RecordedGraph
{
public:
    /// Calls `work` with the stream twice: as it is, so that libraries set themselves up, and recording. Work
    /// that waits for the device, or copies from pageable memory, cannot be recorded: NotSupported, with the
    /// reason.
    static Result<std::shared_ptr<RecordedGraph>>
    record(std::shared_ptr<RecordingStream> stream,
           const std::function<Result<void>(std::uint64_t stream)> &work);
    ~RecordedGraph();
    RecordedGraph(const RecordedGraph &) = delete;
    RecordedGraph &operator=(const RecordedGraph &) = delete;

    /// Puts the graph on the default stream.
    Result<void> launch();

private:
    explicit RecordedGraph(std::shared_ptr<RecordingStream> stream)
        : stream_(std::move(stream))
    {}
    Result<void> capture(const std::function<Result<void>(std::uint64_t stream)> &work);

    std::shared_ptr<RecordingStream> stream_;
    CUgraph graph_ = nullptr;
    CUgraphExec executable_ = nullptr;
};

} // namespace kernelwright::cuda
