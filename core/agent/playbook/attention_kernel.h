// SPDX-License-Identifier: GPL-3.0-or-later
// Internal: the shape for attention. A warp computes one row of the result and goes through the keys in
// pieces, keeping the largest score and the sums of what it has seen: the softmax is rescaled whenever a
// larger score comes (Milakov and Gimelshein, "Online normalizer calculation for softmax"), so that no row of
// scores is ever stored.
#pragma once

#include "factor_reader.h"

namespace kernelwright::playbook
{

/// Writes the kernel of one domain with an attention plan; used once.
class AttentionKernel : KernelWriter
{
public:
    explicit AttentionKernel(const KernelRequest &request);
    KernelText write();

private:
    void writeScore();
    void writeSoftmax();
    void writeValues();
    void writeResults();
    void writeBody();

    const AttentionPlan &plan_;
    FactorReader query_, key_, value_, score_;
    std::string keyCount_, depthCount_, downCount_, acrossCount_,
        rowCount_; ///< names of numbers of the launch plan
};

} // namespace kernelwright::playbook
