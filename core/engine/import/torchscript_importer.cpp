// SPDX-License-Identifier: GPL-3.0-or-later
#include "torchscript_importer.h"
namespace kernelwright
{
Result<ImportedModel> importTorchScript(const ZipArchive &archive, const ImportOptions &)
{
    return fail(ErrorCode::NotSupported,
                "'" + archive.path() +
                    "' is TorchScript, which is not read yet: export it with torch.export.save");
}
} // namespace kernelwright
