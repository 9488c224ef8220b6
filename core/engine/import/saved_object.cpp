// SPDX-License-Identifier: GPL-3.0-or-later
#include "saved_object.h"

#include "tensor_record.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace kernelwright
{

namespace
{

using Kind = PickleValue::Kind;

constexpr std::int64_t largestPickle = std::int64_t{64} << 20;
constexpr int deepestContainer = 64;
constexpr std::size_t mostVisits = 1U << 20;

DType dtypeOfStorage(std::string_view global)
{
    struct Entry
    {
        std::string_view storage;
        DType dtype;
    };
    constexpr std::array<Entry, 14> entries{{{"torch DoubleStorage", DType::Float64},
                                             {"torch FloatStorage", DType::Float32},
                                             {"torch HalfStorage", DType::Float16},
                                             {"torch BFloat16Storage", DType::BFloat16},
                                             {"torch LongStorage", DType::Int64},
                                             {"torch IntStorage", DType::Int32},
                                             {"torch ShortStorage", DType::Int16},
                                             {"torch CharStorage", DType::Int8},
                                             {"torch ByteStorage", DType::UInt8},
                                             {"torch BoolStorage", DType::Bool},
                                             {"torch Float8_e4m3fnStorage", DType::Float8E4M3},
                                             {"torch Float8_e5m2Storage", DType::Float8E5M2},
                                             {"torch ComplexFloatStorage", DType::Complex64},
                                             {"torch ComplexDoubleStorage", DType::Complex128}}};
    for (const Entry &entry : entries)
        if (entry.storage == global) return entry.dtype;
    return DType::Unknown;
}

std::optional<std::vector<std::int64_t>> integersOf(const PickleValue &value)
{
    const PickleValue *tuple = &value;
    if (tuple->kind == Kind::Call && tuple->text == "torch Size" && tuple->items.size() == 1)
        tuple = tuple->items[0];
    if (tuple->kind != Kind::Tuple && tuple->kind != Kind::List) return std::nullopt;
    std::vector<std::int64_t> integers;
    for (const PicklePointer item : tuple->items) {
        if (item->kind != Kind::Int) return std::nullopt;
        integers.push_back(item->integer);
    }
    return integers;
}

} // namespace

// (storage, offset, sizes, strides, requires_grad, hooks[, dtype]); the storage is ('storage', type, key,
// device, count).
std::optional<TensorType> savedTensorType(const PickleValue &call)
{
    if (call.kind != Kind::Call || call.items.size() < 4 || call.items[0]->kind != Kind::Persistent ||
        call.items[1]->kind != Kind::Int)
        return std::nullopt;
    const PickleValue &description = *call.items[0]->items[0];
    if (description.kind != Kind::Tuple || description.items.size() < 3 ||
        description.items[1]->kind != Kind::Global || description.items[2]->kind != Kind::String)
        return std::nullopt;
    const auto sizes = integersOf(*call.items[2]);
    const auto strides = integersOf(*call.items[3]);
    if (!sizes || !strides) return std::nullopt;
    TensorType type;
    type.sizes = *sizes;
    type.strides = *strides;
    type.dtype = dtypeOfStorage(description.items[1]->text);
    if (call.text.ends_with("_v3") && call.items.size() > 6 && call.items[6]->kind == Kind::Global)
        type.dtype = dtypeFromName(call.items[6]->text.substr(call.items[6]->text.find(' ') + 1));
    return type;
}

PicklePointer untaggedPickle(PicklePointer value)
{
    const bool isTag = value->kind == Kind::Call && value->text == "torch.jit._pickle restore_type_tag";
    return isTag && !value->items.empty() ? value->items[0] : value;
}

Result<SavedObject> SavedObject::read(ZipArchive archive)
{
    const std::string name = archive.findBySuffix("data.pkl");
    if (name.empty())
        return fail(ErrorCode::BadInput,
                    "'" + archive.path() + "' holds no data.pkl: torch.save did not write it");
    const std::string folder = name.substr(0, name.size() - std::string_view("data.pkl").size());
    if (archive.contains(folder + "byteorder")) {
        const Result<ZipRecord> order = archive.read(folder + "byteorder", 64);
        if (!order) return forward(order.error());
        if (order->text() == "big")
            return fail(ErrorCode::NotSupported,
                        "'" + archive.path() + "' was written on a big-endian machine");
    }
    const Result<ZipRecord> record = archive.read(name, largestPickle);
    if (!record) return forward(record.error());
    Result<Pickle> pickle = readPickle(record->text(), "'" + name + "' of '" + archive.path() + "'");
    if (!pickle) return forward(pickle.error());
    return SavedObject(std::move(archive), std::move(*pickle), folder);
}

Result<SavedObject> SavedObject::read(const ZipRecord &record, const std::string &what)
{
    Result<ZipArchive> archive = ZipArchive::openRecord(record, what);
    if (!archive) return forward(archive.error());
    return read(std::move(*archive));
}

bool SavedObject::isTensor(const PickleValue &value)
{
    return value.kind == Kind::Call && value.text != "torch Size" && value.text != "torch device" &&
           value.text != "torch.jit._pickle restore_type_tag";
}

Result<HostTensor> SavedObject::tensor(const PickleValue &value)
{
    const PickleValue *call = &value;
    // A parameter wraps a tensor: (tensor, requires_grad, hooks).
    for (int wraps = 0; wraps < 2 && call->kind == Kind::Call; ++wraps) {
        if (call->text.find("arameter") == std::string::npos) break;
        if (call->items.empty())
            return fail(ErrorCode::BadInput, "'" + archive_.path() + "' holds an empty parameter");
        call = call->items[0];
    }
    if (call->kind != Kind::Call || !call->text.starts_with("torch._utils _rebuild_tensor"))
        return fail(ErrorCode::NotSupported, "'" + archive_.path() + "' holds a tensor built by '" +
                                                 call->text + "', which is not supported");
    return rebuild(*call);
}

Result<HostTensor> SavedObject::rebuild(const PickleValue &call)
{
    const std::optional<TensorType> type = savedTensorType(call);
    if (!type)
        return fail(ErrorCode::BadInput, "'" + archive_.path() + "' holds a malformed tensor description");
    const std::string &key = call.items[0]->items[0]->items[2]->text;
    const Result<ZipRecord> record = storage(key);
    if (!record) return forward(record.error());
    return tensorInRecord(*type, *record, call.items[1]->integer,
                          "a tensor in '" + folder_ + "data/" + key + "' of '" + archive_.path() + "'");
}

Result<ZipRecord> SavedObject::storage(const std::string &key)
{
    if (const auto found = storages_.find(key); found != storages_.end()) return found->second;
    Result<ZipRecord> record = archive_.read(folder_ + "data/" + key);
    if (record) storages_.emplace(key, *record);
    return record;
}

Result<std::vector<PicklePointer>> SavedObject::leaves(const PickleValue &value) const
{
    Walk walk;
    if (const Result<void> collected = collectLeaves(value, 0, walk); !collected)
        return forward(collected.error());
    return std::move(walk.leaves);
}

Result<void> SavedObject::collectLeaves(const PickleValue &value, int depth, Walk &walk) const
{
    if (depth > deepestContainer || ++walk.visits > mostVisits)
        return fail(ErrorCode::BadInput,
                    "'" + archive_.path() + "' is nested too deeply or holds too many values");
    if (value.kind == Kind::Tuple || value.kind == Kind::List) {
        for (const PicklePointer item : value.items)
            if (const Result<void> done = collectLeaves(*item, depth + 1, walk); !done) return done;
        return {};
    }
    if (value.kind == Kind::Dict) {
        for (const auto &[key, item] : value.entries)
            if (const Result<void> done = collectLeaves(*item, depth + 1, walk); !done) return done;
        return {};
    }
    walk.leaves.push_back(&value);
    return {};
}

} // namespace kernelwright
