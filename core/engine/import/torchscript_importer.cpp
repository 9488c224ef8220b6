// SPDX-License-Identifier: GPL-3.0-or-later
#include "torchscript_importer.h"

#include "base/text.h"
#include "engine/reference/missing_operators.h"
#include "engine/reference/torch_tensors.h"
#include "sample_inputs.h"
#include "script_recorder.h"
#include "traced_inputs.h"

#include <c10/core/InferenceMode.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <torch/csrc/jit/serialization/import.h>

#include <filesystem>

namespace kernelwright
{

namespace
{

namespace jit = torch::jit;

tl::unexpected<Error> loadError(const std::string &path, const std::exception &error)
{
    constexpr std::string_view unknown = "Unknown builtin op: ";
    const std::string text = error.what();
    if (const std::size_t at = text.find(unknown); at != std::string::npos) {
        std::string op = text.substr(at + unknown.size());
        op.resize(std::min(op.find_first_of(" \n"), op.size()));
        if (op.ends_with(".")) op.pop_back();
        if (op.starts_with("aten::")) op.erase(0, 6);
        return fail(ErrorCode::NotSupported, "'" + path + "' calls the operator " + op +
                                                 ", which this LibTorch (" + torchVersion() +
                                                 ") does not know: export the model as .pt2 with "
                                                 "torch.export, or build the engine with a newer LibTorch");
    }
    return fail(ErrorCode::BadInput, "'" + path + "' cannot be read as TorchScript by LibTorch " +
                                         torchVersion() + ": " + describeTorchError(error));
}

class ScriptImport
{
public:
    ScriptImport(const ZipArchive &archive, const ImportOptions &options)
        : archive_(archive)
        , options_(options)
    {}

    Result<ImportedModel> run()
    {
        if (const Result<void> loaded = load(); !loaded) return forward(loaded.error());
        if (const Result<void> made = makeInputs(); !made) return forward(made.error());
        if (const Result<void> recorded = record(); !recorded) return forward(recorded.error());
        return std::move(model_);
    }

private:
    Result<void> load()
    {
        supplyMissingOperators();
        try {
            module_ = jit::load(archive_.path(), c10::Device(c10::kCPU));
            module_.eval();
            const auto method = module_.find_method("forward");
            if (!method)
                return fail(ErrorCode::BadInput,
                            "'" + archive_.path() + "' is TorchScript without a forward method");
            graph_ = method->graph()->copy();
            jit::Inline(*graph_);
            defaults_ = method->function().getSchema().arguments();
            return {};
        } catch (const std::exception &error) {
            return loadError(archive_.path(), error);
        }
    }

    Result<void> makeInputs()
    {
        // A graph of inputs alone, for the makers of sample inputs.
        OperatorGraph signature;
        const std::vector<TensorType> traced = tracedInputTypes(archive_);
        const std::size_t count = graph_->inputs().size() - 1;
        for (std::size_t i = 0; i < count; ++i) {
            const jit::Value *input = graph_->inputs()[i + 1];
            if (input->type()->kind() != c10::TypeKind::TensorType) {
                if (i + 1 < defaults_.size() && defaults_[i + 1].default_value())
                    break; // it and all behind it
                return fail(ErrorCode::NotSupported,
                            "the input '" + input->debugName() + "' of '" + archive_.path() + "' is a " +
                                input->type()->repr_str() +
                                "; only tensors are supported: wrap the model so that it takes "
                                "tensors");
            }
            Value value;
            value.name = toIdentifier(defaults_.at(i + 1).name());
            value.role = ValueRole::Input;
            if (traced.size() == count) value.type = traced[i];
            signature.inputs.push_back(signature.addValue(std::move(value)));
        }
        std::vector<std::optional<HostTensor>> given(options_.exampleInputs.begin(),
                                                     options_.exampleInputs.end());
        Result<std::vector<HostTensor>> inputs =
            makeSampleInputs(signature, options_.inputs, given, smallestEmbeddingTable());
        if (!inputs) return forward(inputs.error(), "'" + archive_.path() + "'");
        model_.sampleInputs = std::move(*inputs);
        for (const ValueId id : signature.inputs)
            inputNames_.push_back(signature.value(id).name);
        return {};
    }

    /// Rows of the smallest table that any embedding of the model looks up; the inputs may be indices into
    /// it.
    std::optional<std::int64_t> smallestEmbeddingTable() const
    {
        std::optional<std::int64_t> smallest;
        for (const jit::Node *node : graph_->nodes()) {
            if (std::string(node->kind().toQualString()) != "aten::embedding") continue;
            const std::optional<c10::IValue> table = attributeOf(node->inputs()[0]);
            if (!table || !table->isTensor() || table->toTensor().dim() == 0) continue;
            const std::int64_t rows = table->toTensor().size(0);
            smallest = smallest ? std::min(*smallest, rows) : rows;
        }
        return smallest;
    }

    std::optional<c10::IValue> attributeOf(const jit::Value *value) const
    {
        if (value == graph_->inputs()[0]) return c10::IValue(module_._ivalue());
        const jit::Node *node = value->node();
        if (node->kind() != c10::prim::GetAttr) return std::nullopt;
        const std::optional<c10::IValue> owner = attributeOf(node->inputs()[0]);
        if (!owner || !owner->isObject()) return std::nullopt;
        return owner->toObjectRef().getAttr(node->s(c10::attr::name));
    }

    Result<void> record()
    {
        ScriptGraphBuilder builder;
        ScriptRecorder recorder(module_, builder);
        try {
            const c10::InferenceMode inference;
            for (const auto &parameter : module_.named_parameters())
                builder.nameWeight(parameter.value, parameter.name, ValueRole::Parameter);
            for (const auto &buffer : module_.named_buffers())
                builder.nameWeight(buffer.value, buffer.name, ValueRole::Buffer);
            for (const auto &attribute : module_.named_attributes())
                if (attribute.value.isTensor())
                    builder.nameWeight(attribute.value.toTensor(), attribute.name, ValueRole::Constant);
            std::vector<c10::IValue> arguments{c10::IValue(module_._ivalue())};
            for (std::size_t i = 0; i < model_.sampleInputs.size(); ++i) {
                const at::Tensor tensor =
                    toTorch(model_.sampleInputs[i]).clone(); // the script may write into it
                builder.addInput(inputNames_[i], tensor);
                arguments.emplace_back(tensor);
            }
            for (std::size_t i = arguments.size(); i < graph_->inputs().size(); ++i)
                arguments.push_back(*defaults_.at(i).default_value());
            recorder.run(*graph_, arguments);
        } catch (const std::exception &error) {
            return fail(ErrorCode::BadInput, "'" + archive_.path() +
                                                 "' could not be recorded with its sample inputs (" +
                                                 describeInputs() + "): " + describeTorchError(error) +
                                                 "; other sizes can be given with --input");
        }
        model_.path = archive_.path();
        model_.format = "torchscript";
        model_.graph = builder.takeGraph();
        model_.graph.name = std::filesystem::path(archive_.path()).stem().string();
        if (options_.readWeights) model_.weights = builder.takeWeights();
        model_.notes = recorder.notes();
        if (model_.graph.outputs.empty())
            return fail(ErrorCode::BadInput, "'" + archive_.path() + "' returns no tensor");
        return validateGraph(model_.graph);
    }

    std::string describeInputs() const
    {
        std::vector<std::string> texts;
        for (std::size_t i = 0; i < model_.sampleInputs.size(); ++i)
            texts.push_back(inputNames_[i] + "=" + describe(model_.sampleInputs[i].type));
        return joinText(texts, ", ");
    }

    const ZipArchive &archive_;
    const ImportOptions &options_;
    jit::Module module_;
    std::shared_ptr<jit::Graph> graph_;
    std::vector<c10::Argument> defaults_; ///< the method's parameters, the module first
    std::vector<std::string> inputNames_;
    ImportedModel model_;
};

} // namespace

Result<ImportedModel> importTorchScript(const ZipArchive &archive, const ImportOptions &options)
{
    return ScriptImport(archive, options).run();
}

} // namespace kernelwright
