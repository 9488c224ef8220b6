// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "importer.h"
#include "zip_archive.h"

namespace kernelwright
{

/// Reads an exported program (`.pt2`) without LibTorch.
Result<ImportedModel> importExportedProgram(const ZipArchive &archive, const ImportOptions &options);

} // namespace kernelwright
