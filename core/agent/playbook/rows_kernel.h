// SPDX-License-Identifier: GPL-3.0-or-later
// Internal: the shape for reductions. LANES threads work on one row, ROWS rows on one block. Each stage of
// reductions is a pass over the row (rows_passes.cpp); a last pass writes the outputs that have a value per
// element.
#pragma once

#include "kernel_writer.h"

namespace kernelwright::playbook
{

/// An output and the expression of its value.
struct RowStore
{
    Access access;
    std::string value;
};

/// Writes the kernel of one domain with reductions; used once.
class RowsKernel : KernelWriter
{
public:
    explicit RowsKernel(const KernelRequest &request)
        : KernelWriter(request, request.domain.rows, request.domain.columns, "row", "column")
        , schedule_(request.schedule)
        , packs_(usesPacks(request.schedule))
    {}

    KernelText write();

private:
    struct Accumulator
    {
        TensorId id = 0;
        std::string name, own, type, start, combine, update;
        bool isDouble = false; ///< a float sum collected in double
    };
    void collectPasses();
    std::vector<std::size_t> keptStreams() const;
    bool isKept(std::size_t stream) const;
    void writeKeptLoads();
    void writeKeptValues();
    Accumulator accumulatorFor(TensorId id);
    void writeRowOffsets(const std::vector<std::size_t> &streams);
    void beginLoop();
    void endLoop();
    void writeLoads(const std::vector<std::size_t> &streams, bool isLastPass);
    void beginElements(const Lines &needed);
    void endElements();
    void writeStage(std::size_t stage);
    void writeLastPass();
    void writeRowOutputs();
    void writeRow();
    void writeRowStart();
    void writeCalls(const std::string &function);
    void writeShared(KernelText &kernel, std::string &sharedBytes);
    std::string rowFunction(const std::string &name, const std::string &body);
    void writeRowLoop(const std::string &row, const std::string &function, const std::string &rowCount);
    std::size_t keptBytes() const;
    void writeComment();
    std::string offset(const std::string &base, const Access &access) const;
    bool keepsRegisters() const { return schedule_.keep == Keep::Registers; }
    bool keepsShared() const { return schedule_.keep == Keep::Shared; }
    std::string position() const { return packs_ ? "first" : "column"; }

    const Schedule &schedule_;
    bool packs_;
    std::string keptColumns_;                ///< name of the number of columns that shared memory holds
    std::set<std::size_t> withOffset_;       ///< streams whose row offset is declared
    std::set<std::size_t> loaded_;           ///< streams that an earlier pass has loaded
    std::map<std::size_t, int> passesUsing_; ///< by stream, how many passes read it
    std::vector<RowStore> elementStores_, rowStores_;
    std::set<ValueKey> keptValues_;                  ///< costly values that several passes need
    std::map<ValueKey, std::string> keptValueNames_; ///< their arrays, once a pass has filled them
};

} // namespace kernelwright::playbook
