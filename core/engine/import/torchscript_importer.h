// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "importer.h"
#include "zip_archive.h"

namespace kernelwright
{

/// Reads a TorchScript file with LibTorch: the module is frozen, inlined and run once with the sample inputs;
/// what that run computed is the graph. NotSupported where it calls an operator that this LibTorch does not
/// know.
Result<ImportedModel> importTorchScript(const ZipArchive &archive, const ImportOptions &options);

} // namespace kernelwright
