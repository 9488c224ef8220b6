// SPDX-License-Identifier: GPL-3.0-or-later
#include "model_file.h"

#include "saved_object.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace kernelwright
{

namespace
{

const std::string howToExport = "export the model in Python with "
                                "torch.export.save(torch.export.export(model, example_inputs), 'model.pt2')";

std::string firstBytes(const std::string &path)
{
    std::array<char, 16> bytes{};
    std::ifstream file(path, std::ios::binary);
    file.read(bytes.data(), bytes.size());
    return {bytes.data(), static_cast<std::size_t>(file.gcount())};
}

/// What a file that is no zip looks like.
std::string guessContents(const std::string &start)
{
    if (start.starts_with("\x80\x02") || start.starts_with("\x80\x04"))
        return "is a pickle in the old format of torch.save (a state_dict or a pickled module), not a model";
    if (start.starts_with("\x89HDF")) return "is an HDF5 file, not a PyTorch model";
    if (start.starts_with("GGUF")) return "is a GGUF file, which holds weights without a graph";
    if (start.size() > 8 && start[8] == '{')
        return "looks like safetensors, which holds weights without a graph";
    if (start.starts_with("\x08")) return "looks like ONNX, not a PyTorch model";
    const bool isText = std::all_of(start.begin(), start.end(), [](unsigned char c) {
        return c >= 32 || c == '\n' || c == '\r' || c == '\t';
    });
    return isText ? "is a text file, not a model" : "is not a PyTorch model file";
}

bool hasEntry(const ZipArchive &archive, std::string_view piece)
{
    return std::any_of(archive.recordNames().begin(), archive.recordNames().end(),
                       [&](const std::string &name) { return name.find(piece) != std::string::npos; });
}

/// Why an archive of torch.save is no model.
std::string describeSaved(ZipArchive archive)
{
    Result<SavedObject> saved = SavedObject::read(std::move(archive));
    if (!saved && saved.error().code == ErrorCode::NotSupported)
        return "is a pickled Python object, not a model (" + saved.error().message + ")";
    if (!saved) return "is not a model (" + saved.error().message + ")";
    const PickleValue &root = *saved->root();
    if (findEntry(root, "args") && findEntry(root, "ref"))
        return "is a stored example (inputs and outputs), not a model; pass it beside its model with --io";
    const bool isStateDict = root.kind == PickleValue::Kind::Dict && !root.entries.empty() &&
                             std::all_of(root.entries.begin(), root.entries.end(), [](const auto &entry) {
                                 return SavedObject::isTensor(*entry.second);
                             });
    if (isStateDict)
        return "is a state_dict of " + std::to_string(root.entries.size()) +
               " tensors, not a model: it has no graph";
    return "holds only tensors and numbers, not a model";
}

} // namespace

Result<ZipArchive> openArchive(const std::string &path)
{
    namespace fs = std::filesystem;
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) return fail(ErrorCode::BadInput, "there is no file '" + path + "'");
    if (fs::is_directory(status))
        return fail(ErrorCode::BadInput, "'" + path + "' is a folder, not a model file");
    if (!fs::is_regular_file(status))
        return fail(ErrorCode::BadInput, "'" + path + "' is not a regular file");
    if (!std::ifstream(path, std::ios::binary))
        return fail(ErrorCode::BadInput, "'" + path + "' cannot be read: check its permissions");
    const std::string start = firstBytes(path);
    if (start.empty()) return fail(ErrorCode::BadInput, "'" + path + "' is empty: " + howToExport);
    if (!start.starts_with("PK"))
        return fail(ErrorCode::BadInput, "'" + path + "' " + guessContents(start) + ": " + howToExport);
    return ZipArchive::open(path);
}

Result<ModelFile> openModelFile(const std::string &path)
{
    Result<ZipArchive> archive = openArchive(path);
    if (!archive) return forward(archive.error());
    // A script carries its Python packages as folders, which may be called anything: it is asked for first.
    const bool isScript = !archive->findBySuffix("constants.pkl").empty() && hasEntry(*archive, "code/");
    if (isScript) return ModelFile{ModelFile::Kind::TorchScript, std::move(*archive)};
    if (hasEntry(*archive, "serialized_exported_program.json") || hasEntry(*archive, "archive_format") ||
        hasEntry(*archive, "/models/"))
        return ModelFile{ModelFile::Kind::ExportedProgram, std::move(*archive)};
    if (!archive->findBySuffix("data.pkl").empty())
        return fail(ErrorCode::BadInput, "'" + path + "' " + describeSaved(std::move(*archive)) +
                                             ". To have a model, " + howToExport);
    return fail(ErrorCode::BadInput,
                "'" + path + "' is a zip archive but holds no PyTorch model: " + howToExport);
}

} // namespace kernelwright
