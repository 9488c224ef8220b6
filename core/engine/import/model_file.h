// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "zip_archive.h"

#include <string>

namespace kernelwright
{

/// A file that holds a model, opened.
struct ModelFile
{
    enum class Kind { ExportedProgram, TorchScript };
    Kind kind;
    ZipArchive archive;
};

/// Opens a zip archive; BadInput where the path is absent, a folder, empty or no zip, saying what the file
/// looks like instead.
Result<ZipArchive> openArchive(const std::string &path);

/// Opens a model and finds out its format by its contents. A state_dict, a pickled module or tensors alone
/// are BadInput with the way to make a model of them.
Result<ModelFile> openModelFile(const std::string &path);

} // namespace kernelwright
