// SPDX-License-Identifier: GPL-3.0-or-later
#include "export_importer.h"

#include "export_graph.h"
#include "export_weights.h"
#include "sample_inputs.h"
#include "saved_object.h"

namespace kernelwright
{

namespace
{

constexpr std::int64_t largestProgram = std::int64_t{1} << 30;

using OptionalTensors = std::vector<std::optional<HostTensor>>;

Result<HostTensor> numberAsTensor(const PickleValue &value)
{
    std::byte *data = nullptr;
    HostTensor tensor = makeHostTensor(value.kind == PickleValue::Kind::Int     ? DType::Int64
                                       : value.kind == PickleValue::Kind::Float ? DType::Float64
                                                                                : DType::Bool,
                                       {});
    data = tensor.data();
    if (value.kind == PickleValue::Kind::Int)
        std::memcpy(data, &value.integer, sizeof value.integer);
    else if (value.kind == PickleValue::Kind::Float)
        std::memcpy(data, &value.number, sizeof value.number);
    else
        *data = static_cast<std::byte>(value.flag);
    return tensor;
}

/// The example call stored in the file, one tensor per graph input; empty entries where it does not fit.
Result<OptionalTensors> readExampleCall(const ZipArchive &archive, const std::string &record,
                                        const ExportedGraph &exported)
{
    const Result<ZipRecord> bytes = archive.read(record);
    if (!bytes) return forward(bytes.error());
    Result<SavedObject> saved = SavedObject::read(*bytes, archive.path() + "/" + record);
    if (!saved) return forward(saved.error());
    const Result<std::vector<PicklePointer>> leaves = saved->leaves(*saved->root());
    if (!leaves) return forward(leaves.error());
    OptionalTensors inputs(exported.graph.inputs.size());
    if (leaves->size() != exported.callLeaves.size()) return inputs;
    std::size_t input = 0;
    for (std::size_t i = 0; i < leaves->size(); ++i) {
        if (exported.callLeaves[i] == noValue) continue;
        const PickleValue &leaf = *(*leaves)[i];
        const bool isNumber = leaf.kind == PickleValue::Kind::Int || leaf.kind == PickleValue::Kind::Float ||
                              leaf.kind == PickleValue::Kind::Bool;
        if (SavedObject::isTensor(leaf) || isNumber) {
            Result<HostTensor> tensor = isNumber ? numberAsTensor(leaf) : saved->tensor(leaf);
            if (!tensor) return forward(tensor.error());
            inputs[input] = std::move(*tensor);
        }
        ++input;
    }
    return inputs;
}

} // namespace

Result<ImportedModel> importExportedProgram(const ZipArchive &archive, const ImportOptions &options)
{
    const Result<ExportLayout> layout = findExportLayout(archive);
    if (!layout) return forward(layout.error());
    const std::string what = "'" + layout->program + "' of '" + archive.path() + "'";
    const Result<ZipRecord> text = archive.read(layout->program, largestProgram);
    if (!text) return forward(text.error());
    const Result<Json> program = parseJson(text->text(), what);
    if (!program) return forward(program.error());
    Result<ExportedGraph> exported = graphFromExport(*program, what);
    if (!exported) return forward(exported.error());

    ImportedModel model;
    model.path = archive.path();
    model.format = "pt2";
    if (const auto version = program->find("torch_version");
        version != program->end() && version->is_string())
        model.torchVersion = version->get<std::string>();
    model.notes = exported->notes;
    if (options.readWeights) {
        Result<WeightMap> weights = readExportWeights(archive, *layout, exported->graph);
        if (!weights) return forward(weights.error());
        model.weights = std::move(*weights);
    }
    OptionalTensors fromFile(exported->graph.inputs.size());
    if (!layout->sampleInputs.empty()) {
        Result<OptionalTensors> stored = readExampleCall(archive, layout->sampleInputs, *exported);
        // The example is a convenience: a model whose example holds other things than tensors still imports.
        if (stored)
            fromFile = std::move(*stored);
        else if (stored.error().code == ErrorCode::NotSupported)
            model.notes.push_back(stored.error().message);
        else
            return forward(stored.error());
    }
    for (std::size_t i = 0; i < fromFile.size() && i < options.exampleInputs.size(); ++i)
        fromFile[i] = options.exampleInputs[i];
    Result<std::vector<HostTensor>> inputs = makeSampleInputs(exported->graph, options.inputs, fromFile);
    if (!inputs) return forward(inputs.error(), "'" + archive.path() + "'");
    model.sampleInputs = std::move(*inputs);
    model.inputsAreFromFile =
        options.inputs.empty() &&
        std::all_of(fromFile.begin(), fromFile.end(), [](const auto &i) { return i.has_value(); });
    model.graph = std::move(exported->graph);
    model.graph.name = std::filesystem::path(archive.path()).stem().string();
    return model;
}

} // namespace kernelwright
