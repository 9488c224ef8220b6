// SPDX-License-Identifier: GPL-3.0-or-later
#include "traced_inputs.h"

#include "saved_object.h"

namespace kernelwright
{

namespace
{
constexpr std::int64_t largestPickle = std::int64_t{16} << 20;
}

std::vector<TensorType> tracedInputTypes(const ZipArchive &archive)
{
    std::vector<TensorType> types;
    const std::string record = archive.findBySuffix("traced_inputs.pkl");
    if (record.empty()) return types;
    const Result<ZipRecord> bytes = archive.read(record, largestPickle);
    if (!bytes) return types;
    const Result<Pickle> pickle = readPickle(bytes->text(), "'" + record + "'");
    if (!pickle) return types;
    const PickleValue *root = untaggedPickle(pickle->root);
    const PickleValue *forwardInputs = root ? findEntry(*root, "forward") : nullptr;
    if (!forwardInputs) return types;
    for (const PicklePointer item : untaggedPickle(forwardInputs)->items) {
        const std::optional<TensorType> type = savedTensorType(*item);
        if (!type) return {};
        types.push_back(*type);
    }
    return types;
}

} // namespace kernelwright
