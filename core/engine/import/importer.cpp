// SPDX-License-Identifier: GPL-3.0-or-later
#include "importer.h"

#include "engine/reference/input_checks.h"
#include "export_importer.h"
#include "model_file.h"
#include "saved_object.h"
#include "torchscript_importer.h"

namespace kernelwright
{

Result<ImportedModel> importModel(const std::string &path, const ImportOptions &options)
{
    Result<ModelFile> file = openModelFile(path);
    if (!file) return forward(file.error());
    Result<ImportedModel> model = file->kind == ModelFile::Kind::ExportedProgram
                                      ? importExportedProgram(file->archive, options)
                                      : importTorchScript(file->archive, options);
    if (!model) return forward(model.error());
    if (const Result<SymbolValues> fit = checkInputs(model->graph, model->sampleInputs, false); !fit)
        return forward(fit.error(), "'" + path + "'");
    return model;
}

Result<StoredExample> readStoredExample(const std::string &path)
{
    const std::string shape =
        "a stored example is a dict with 'args' (tensors) and 'ref' (tensors), written by torch.save";
    Result<ZipArchive> archive = openArchive(path);
    if (!archive) return forward(archive.error());
    Result<SavedObject> saved = SavedObject::read(std::move(*archive));
    if (!saved) return forward(saved.error());
    const PickleValue *arguments = findEntry(*saved->root(), "args");
    const PickleValue *reference = findEntry(*saved->root(), "ref");
    if (!arguments || !reference)
        return fail(ErrorCode::BadInput, "'" + path + "' is no stored example: " + shape);
    StoredExample example;
    for (const auto &[value, target] :
         {std::pair(arguments, &example.inputs), std::pair(reference, &example.outputs)}) {
        const Result<std::vector<PicklePointer>> leaves = saved->leaves(*value);
        if (!leaves) return forward(leaves.error());
        for (const PicklePointer leaf : *leaves) {
            if (!SavedObject::isTensor(*leaf))
                return fail(ErrorCode::BadInput,
                            "'" + path + "' holds something that is no tensor: " + shape);
            Result<HostTensor> tensor = saved->tensor(*leaf);
            if (!tensor) return forward(tensor.error());
            target->push_back(std::move(*tensor));
        }
    }
    return example;
}

} // namespace kernelwright
