// SPDX-License-Identifier: GPL-3.0-or-later
#include "cuda_graph.h"

namespace kernelwright::cuda
{

namespace
{
/// Whatever goes wrong while recording says something of the work, not of the device.
tl::unexpected<Error> notRecordable(const Error &error)
{
    return fail(ErrorCode::NotSupported, "it cannot be recorded as a CUDA graph: " + error.message);
}
} // namespace

Result<std::shared_ptr<RecordingStream>> RecordingStream::create(std::shared_ptr<CudaContext> context)
{
    std::shared_ptr<RecordingStream> stream(new RecordingStream(std::move(context)));
    CudaContext &owner = *stream->context_;
    // Not blocking: recording must not be mixed up with the default stream's work.
    if (const auto made = owner.check(owner.api().streamCreate(&stream->stream_, CU_STREAM_NON_BLOCKING),
                                      "making a stream");
        !made)
        return forward(made.error());
    return stream;
}

RecordingStream::~RecordingStream()
{
    if (stream_ && !context_->isLost()) context_->api().streamDestroy(stream_);
}

Result<std::shared_ptr<RecordedGraph>>
RecordedGraph::record(std::shared_ptr<RecordingStream> stream,
                      const std::function<Result<void>(std::uint64_t stream)> &work)
{
    std::shared_ptr<RecordedGraph> graph(new RecordedGraph(std::move(stream)));
    CudaContext &owner = graph->stream_->context();
    const DriverApi &api = owner.api();
    if (const auto done = owner.check(api.contextSynchronize(), "before recording a graph"); !done)
        return forward(done.error());
    if (const auto tried = work(reinterpret_cast<std::uint64_t>(graph->stream_->handle())); !tried)
        return forward(tried.error());
    if (const auto done = owner.check(api.contextSynchronize(), "running what is to be recorded"); !done)
        return forward(done.error());
    if (const auto captured = graph->capture(work); !captured) return forward(captured.error());
    return graph;
}

Result<void> RecordedGraph::capture(const std::function<Result<void>(std::uint64_t stream)> &work)
{
    const DriverApi &api = stream_->context().api();
    // Relaxed: an allocator may ask the driver for memory meanwhile, which other modes forbid.
    if (const auto begun =
            api.check(api.streamBeginCapture(stream_->handle(), CU_STREAM_CAPTURE_MODE_RELAXED), "recording");
        !begun)
        return notRecordable(begun.error());
    const auto worked = work(reinterpret_cast<std::uint64_t>(stream_->handle()));
    const auto ended =
        api.check(api.streamEndCapture(stream_->handle(), &graph_), "recording"); // also after a failure
    if (!worked) return notRecordable(worked.error());
    if (!ended) return notRecordable(ended.error());
    std::size_t nodes = 0;
    if (const auto counted =
            api.check(api.graphGetNodes(graph_, nullptr, &nodes), "counting the graph's nodes");
        !counted)
        return notRecordable(counted.error());
    if (nodes == 0) return fail(ErrorCode::NotSupported, "nothing was enqueued on the stream to be recorded");
    if (const auto made =
            api.check(api.graphInstantiate(&executable_, graph_, 0), "making the graph executable");
        !made)
        return notRecordable(made.error());
    return {};
}

RecordedGraph::~RecordedGraph()
{
    if (stream_->context().isLost()) return;
    const DriverApi &api = stream_->context().api();
    api.contextSynchronize(); // a launched graph must not be taken from under the device
    if (executable_) api.graphExecDestroy(executable_);
    if (graph_) api.graphDestroy(graph_);
}

Result<void> RecordedGraph::launch()
{
    CudaContext &context = stream_->context();
    return context.check(context.api().graphLaunch(executable_, nullptr), "launching a CUDA graph");
}

} // namespace kernelwright::cuda
