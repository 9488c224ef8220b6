// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "graph/operator_graph.h"
#include "zip_archive.h"

namespace kernelwright
{

/// Where the parts of an exported program lie in its archive.
struct ExportLayout
{
    enum class Form {
        RawWeights,     ///< PyTorch 2.9 and later: one record of raw bytes per storage
        PickledWeights, ///< PyTorch 2.8: one pickle of all weights
        Flat,           ///< PyTorch 2.6 and 2.7: four files without a folder
    };
    Form form = Form::RawWeights;
    std::string program;      ///< record of the graph's JSON
    std::string sampleInputs; ///< record, "" where the file has none
    std::string weights;      ///< configuration (RawWeights) or pickle
    std::string constants;    ///< likewise; "" where the file has none
};

/// NotSupported for archives that hold only compiled code, or several models.
Result<ExportLayout> findExportLayout(const ZipArchive &archive);

/// The weights that `graph` refers to, by Value::target. Tensors that share a storage in the file share it
/// here. Each is compared with what the graph says about its type.
Result<WeightMap> readExportWeights(const ZipArchive &archive, const ExportLayout &layout,
                                    const OperatorGraph &graph);

} // namespace kernelwright
