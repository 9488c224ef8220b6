// SPDX-License-Identifier: GPL-3.0-or-later
// Internal: the shape for sums of products. A block computes a tile of results; what its threads bring into
// shared memory serves a whole row or column of the tile.
#pragma once

#include "factor_reader.h"
#include "tile_plan.h"

namespace kernelwright::playbook
{

/// Writes the kernel of one domain with a tile plan; used once.
class TilesKernel : KernelWriter
{
public:
    TilesKernel(const KernelRequest &request, const TilePlan &plan);
    KernelText write();

private:
    /// The words that differ between the two factors.
    struct Words
    {
        const char *tile, *side, *sideCount, *firstOfSide, *inSide, *row, *position, *what;
    };

    void writeFactor(FactorReader &factor, const Words &words);
    bool runsAlongDepth(const FactorReader &factor) const;
    void writeSums();
    void writeResults();
    void writeBody();

    const TilePlan &plan_;
    FactorReader left_, right_;
    std::string depthCount_, downCount_, acrossCount_, rowTiles_,
        columnTiles_;       ///< names of numbers of the launch plan
    std::string number_;    ///< what is multiplied in: "float" or "double"
    bool isDouble_ = false; ///< float products are summed in double
};

} // namespace kernelwright::playbook
