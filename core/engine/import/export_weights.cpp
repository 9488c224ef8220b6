// SPDX-License-Identifier: GPL-3.0-or-later
#include "export_weights.h"

#include "export_schema.h"
#include "saved_object.h"
#include "tensor_record.h"

#include <algorithm>

namespace kernelwright
{

namespace
{

constexpr std::int64_t largestConfiguration = std::int64_t{256} << 20;

std::string folderOf(const std::string &record)
{
    const std::size_t slash = record.rfind('/');
    return slash == std::string::npos ? std::string() : record.substr(0, slash + 1);
}

class WeightReader
{
public:
    explicit WeightReader(const ZipArchive &archive)
        : archive_(archive)
    {}

    Result<void> readConfiguration(const std::string &record)
    {
        const std::string what = "'" + record + "' of '" + archive_.path() + "'";
        const Result<ZipRecord> bytes = archive_.read(record, largestConfiguration);
        if (!bytes) return forward(bytes.error());
        const Result<Json> json = parseJson(bytes->text(), what);
        if (!json) return forward(json.error());
        const Result<bool> read = catchImportFailure(what, [&] {
            for (const auto &[name, payload] : json->at("config").items())
                readPayload(folderOf(record), name, payload);
            return true;
        });
        return read ? Result<void>() : forward(read.error());
    }

    Result<void> readPickle(const std::string &record)
    {
        const Result<ZipRecord> bytes = archive_.read(record);
        if (!bytes) return forward(bytes.error());
        Result<SavedObject> saved = SavedObject::read(*bytes, archive_.path() + "/" + record);
        if (!saved) return forward(saved.error());
        if (saved->root()->kind != PickleValue::Kind::Dict)
            return fail(ErrorCode::BadInput,
                        "'" + record + "' of '" + archive_.path() + "' is not a dict of tensors");
        for (const auto &[name, value] : saved->root()->entries) {
            if (name->kind != PickleValue::Kind::String || !SavedObject::isTensor(*value)) continue;
            Result<HostTensor> tensor = saved->tensor(*value);
            if (!tensor) return forward(tensor.error(), "weight '" + name->text + "'");
            weights_.insert_or_assign(name->text, std::move(*tensor));
        }
        return {};
    }

    WeightMap take() { return std::move(weights_); }

private:
    void readPayload(const std::string &folder, const std::string &name, const Json &payload)
    {
        const std::string record = folder + payload.at("path_name").get<std::string>();
        const std::string what = "weight '" + name + "' in '" + record + "' of '" + archive_.path() + "'";
        const auto pickled = payload.find("use_pickle");
        if (pickled != payload.end() && pickled->get<bool>())
            throw ImportFailure(ErrorCode::NotSupported,
                                what + " is a tensor of its own Python class, which is not "
                                       "supported");
        const ExportedTensorMeta meta = tensorMetaFromExport(payload.at("tensor_meta"));
        if (meta.isSparse)
            throw ImportFailure(ErrorCode::NotSupported, what + " is sparse, which is not supported");
        auto storage = storages_.find(record);
        if (storage == storages_.end()) {
            Result<ZipRecord> bytes = archive_.read(record);
            if (!bytes) throw ImportFailure(forward(bytes.error(), "weight '" + name + "'").value());
            storage = storages_.emplace(record, std::move(*bytes)).first;
        }
        Result<HostTensor> tensor = tensorInRecord(meta.type, storage->second, meta.storageOffset, what);
        if (!tensor) throw ImportFailure(tensor.error());
        weights_.insert_or_assign(name, std::move(*tensor));
    }

    const ZipArchive &archive_;
    std::map<std::string, ZipRecord> storages_;
    WeightMap weights_;
};

Result<void> checkWeight(const Value &value, const WeightMap &weights, const std::string &path)
{
    const auto found = weights.find(value.target);
    if (found == weights.end())
        return fail(ErrorCode::BadInput, "'" + path + "' does not hold the " + valueRoleName(value.role) +
                                             " '" + value.target + "' that its graph uses: export it again");
    const TensorType &stored = found->second.type;
    if (stored.dtype == value.type.dtype && stored.sizes == value.type.sizes) return {};
    return fail(ErrorCode::BadInput, "in '" + path + "' the " + std::string(valueRoleName(value.role)) +
                                         " '" + value.target + "' is stored as " + describe(stored) +
                                         ", but the graph uses " + describe(value.type));
}

} // namespace

Result<ExportLayout> findExportLayout(const ZipArchive &archive)
{
    ExportLayout layout;
    if (const std::string flat = archive.findBySuffix("serialized_exported_program.json"); !flat.empty()) {
        layout.form = ExportLayout::Form::Flat;
        layout.program = flat;
        layout.weights = archive.findBySuffix("serialized_state_dict.pt");
        layout.constants = archive.findBySuffix("serialized_constants.pt");
        layout.sampleInputs = archive.findBySuffix("serialized_example_inputs.pt");
        return layout;
    }
    std::vector<std::string> programs;
    for (const std::string &name : archive.recordNames())
        if (name.ends_with(".json") &&
            (name.find("/models/") != std::string::npos || name.starts_with("models/")))
            programs.push_back(name);
    if (programs.empty())
        return fail(ErrorCode::NotSupported,
                    "'" + archive.path() +
                        "' holds no exported graph (models/model.json), only "
                        "compiled code or data: export the model with torch.export.save(torch."
                        "export.export(model, example_inputs), 'model.pt2')");
    const auto isDefault = [](const std::string &name) { return name.ends_with("models/model.json"); };
    const auto chosen = std::find_if(programs.begin(), programs.end(), isDefault);
    if (chosen == programs.end() && programs.size() > 1)
        return fail(ErrorCode::NotSupported, "'" + archive.path() + "' holds " +
                                                 std::to_string(programs.size()) +
                                                 " models: export each into a file of its own");
    layout.program = chosen == programs.end() ? programs.front() : *chosen;
    const std::string root = folderOf(layout.program.substr(0, folderOf(layout.program).size() - 1));
    const std::string start = layout.program.substr(folderOf(layout.program).size());
    const std::string model = start.substr(0, start.size() - std::string_view(".json").size());
    const auto record = [&](const std::string &name) {
        return archive.contains(root + name) ? root + name : "";
    };
    layout.weights = record("data/weights/" + model + "_weights_config.json");
    layout.constants = record("data/constants/" + model + "_constants_config.json");
    layout.sampleInputs = record("data/sample_inputs/" + model + ".pt");
    if (layout.weights.empty() && archive.contains(root + "data/weights/" + model + ".pt")) {
        layout.form = ExportLayout::Form::PickledWeights;
        layout.weights = record("data/weights/" + model + ".pt");
        layout.constants = record("data/constants/" + model + ".pt");
    }
    return layout;
}

Result<WeightMap> readExportWeights(const ZipArchive &archive, const ExportLayout &layout,
                                    const OperatorGraph &graph)
{
    WeightReader reader(archive);
    for (const std::string &record : {layout.weights, layout.constants}) {
        if (record.empty()) continue;
        const Result<void> read = layout.form == ExportLayout::Form::RawWeights
                                      ? reader.readConfiguration(record)
                                      : reader.readPickle(record);
        if (!read) return forward(read.error());
    }
    WeightMap weights = reader.take();
    WeightMap used;
    for (const Value &value : graph.values) {
        if (value.target.empty()) continue;
        if (const Result<void> fits = checkWeight(value, weights, archive.path()); !fits)
            return forward(fits.error());
        used.emplace(value.target, weights.at(value.target));
    }
    return used;
}

} // namespace kernelwright
