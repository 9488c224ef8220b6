// SPDX-License-Identifier: GPL-3.0-or-later
// What torch.save wrote: a zip of one pickle and the tensors' storages.
#pragma once

#include "graph/tensor_type.h"
#include "pickle_reader.h"
#include "zip_archive.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kernelwright
{

/// The type of a tensor as the pickle describes it, without its bytes; nullopt where the value is no plain
/// tensor.
std::optional<TensorType> savedTensorType(const PickleValue &value);

/// TorchScript wraps containers in a call that carries their static type: what is inside, else the value
/// itself.
PicklePointer untaggedPickle(PicklePointer value);

class SavedObject
{
public:
    /// Reads the pickle of `archive`; storages are read when a tensor in them is asked for.
    static Result<SavedObject> read(ZipArchive archive);

    /// The same from the bytes of a `.pt` that is itself a record of another archive; `what` names it in
    /// errors.
    static Result<SavedObject> read(const ZipRecord &record, const std::string &what);

    PicklePointer root() const { return pickle_.root; }

    /// True for a value that stands for a tensor or parameter.
    static bool isTensor(const PickleValue &value);
    Result<HostTensor> tensor(const PickleValue &value);

    /// Leaves (tensors, numbers, strings, None) in the order in which PyTorch flattens containers. BadInput
    /// for absurd nesting.
    Result<std::vector<PicklePointer>> leaves(const PickleValue &value) const;

private:
    SavedObject(ZipArchive archive, Pickle pickle, std::string folder)
        : archive_(std::move(archive))
        , pickle_(std::move(pickle))
        , folder_(std::move(folder))
    {}
    Result<HostTensor> rebuild(const PickleValue &call);
    Result<ZipRecord> storage(const std::string &key);
    struct Walk
    {
        std::vector<PicklePointer> leaves;
        std::size_t visits = 0; ///< a few shared empty containers can stand for any number of visits
    };
    Result<void> collectLeaves(const PickleValue &value, int depth, Walk &walk) const;

    ZipArchive archive_;
    Pickle pickle_;
    std::string folder_; ///< of the records, with its slash
    std::map<std::string, ZipRecord> storages_;
};

} // namespace kernelwright
