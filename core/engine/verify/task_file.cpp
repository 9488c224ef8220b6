// SPDX-License-Identifier: GPL-3.0-or-later
// A task file is a zip: task.json, and each tensor's bytes as a stored (not compressed) entry of its own, in
// the layout that task.json gives it.
#include "evaluator.h"
#include "input_generator.h"

#include <zip.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>
#include <span>
#include <system_error>
#include <utility>

namespace kernelwright
{

namespace
{

constexpr const char *formatName = "kernelwright task";
constexpr int formatVersion = 1;
constexpr std::uint64_t mostJsonBytes = std::uint64_t{64} << 20;

/// An open archive; closing discards what was not written.
class Archive
{
public:
    static Result<Archive> open(const std::string &path, int flags)
    {
        int code = 0;
        Archive archive(path, zip_open(path.c_str(), flags, &code));
        if (archive.zip_) return archive;
        zip_error_t error;
        zip_error_init_with_code(&error, code);
        const std::string reason = zip_error_strerror(&error);
        zip_error_fini(&error);
        const bool writes = (flags & ZIP_CREATE) != 0;
        return fail(writes ? ErrorCode::Io : ErrorCode::BadInput,
                    "cannot " + std::string(writes ? "create" : "read") + " the task file '" + path +
                        "': " + reason);
    }
    Archive(Archive &&other) noexcept
        : path_(std::move(other.path_))
        , zip_(std::exchange(other.zip_, nullptr))
    {}
    Archive &operator=(Archive &&) = delete;
    ~Archive()
    {
        if (zip_) zip_discard(zip_);
    }

    /// The bytes must stay where they are until finish().
    Result<void> add(const std::string &name, std::span<const std::byte> bytes, bool compress)
    {
        zip_source_t *source = zip_source_buffer(zip_, bytes.data(), bytes.size(), 0);
        const zip_int64_t index = source ? zip_file_add(zip_, name.c_str(), source, ZIP_FL_ENC_UTF_8) : -1;
        if (index < 0) {
            zip_source_free(source);
            return failed("add '" + name + "'");
        }
        const zip_int32_t method = compress ? ZIP_CM_DEFLATE : ZIP_CM_STORE;
        if (zip_set_file_compression(zip_, static_cast<zip_uint64_t>(index), method, 0) != 0)
            return failed("store '" + name + "'");
        return {};
    }

    Result<void> finish()
    {
        if (zip_close(zip_) != 0) return failed("write");
        zip_ = nullptr;
        return {};
    }

    /// Reads an entry that must have exactly this many bytes, or, with `exact` unset, at most.
    Result<std::vector<std::byte>> read(const std::string &name, std::uint64_t bytes, bool exact) const
    {
        zip_stat_t stat;
        if (zip_stat(zip_, name.c_str(), 0, &stat) != 0 || !(stat.valid & ZIP_STAT_SIZE))
            return broken("it has no entry '" + name + "'");
        if (exact ? stat.size != bytes : stat.size > bytes)
            return broken("its entry '" + name + "' has " + std::to_string(stat.size) + " bytes instead of " +
                          (exact ? "" : "at most ") + std::to_string(bytes));
        // A stored entry cannot be larger than the file: no small file can ask for a large memory.
        if (exact && (!(stat.valid & ZIP_STAT_COMP_METHOD) || stat.comp_method != ZIP_CM_STORE))
            return broken("its entry '" + name + "' is compressed; tensors are stored as they are");
        zip_file_t *file = zip_fopen(zip_, name.c_str(), 0);
        if (!file) return broken("its entry '" + name + "' cannot be opened: " + zip_strerror(zip_));
        std::vector<std::byte> content(stat.size);
        const zip_int64_t got = zip_fread(file, content.data(), stat.size);
        const int closed = zip_fclose(file);
        if (got < 0 || static_cast<std::uint64_t>(got) != stat.size || closed != 0)
            return broken("its entry '" + name + "' is damaged");
        return content;
    }

    tl::unexpected<Error> broken(const std::string &what) const
    {
        return fail(ErrorCode::BadInput, "'" + path_ + "' is not a usable task file: " + what);
    }

private:
    Archive(std::string path, zip_t *zip)
        : path_(std::move(path))
        , zip_(zip)
    {}
    tl::unexpected<Error> failed(const std::string &doing) const
    {
        return fail(ErrorCode::Io,
                    "cannot " + doing + " in the task file '" + path_ + "': " + zip_strerror(zip_));
    }

    std::string path_;
    zip_t *zip_;
};

std::size_t storageBytes(const TensorType &type)
{
    return static_cast<std::size_t>(storageElements(type)) * dtypeSize(type.dtype);
}

Result<void> addTensor(Archive &archive, const std::string &name, const HostTensor &tensor)
{
    return archive.add(name, {tensor.data(), storageBytes(tensor.type)}, false);
}

Result<HostTensor> readTensor(const Archive &archive, const Json &entry, const std::string &what)
{
    auto type = readJson<TensorType>(entry.value("type", Json()), what);
    if (!type) return archive.broken(type.error().message);
    if (type->strides.size() != type->sizes.size() || dtypeSize(type->dtype) == 0)
        return archive.broken(what + " has no usable type");
    std::int64_t last = 0, reach = 0, bytes = 0;
    for (std::size_t d = 0; d < type->sizes.size(); ++d)
        if (type->sizes[d] < 0 || type->strides[d] < 0 ||
            __builtin_mul_overflow(std::max<std::int64_t>(type->sizes[d] - 1, 0), type->strides[d], &reach) ||
            __builtin_add_overflow(last, reach, &last))
            return archive.broken(what + " has sizes or strides out of range");
    if (last > std::numeric_limits<std::int64_t>::max() / 64 || __builtin_mul_overflow(last + 1, 16, &bytes))
        return archive.broken(what + " is larger than any memory");
    const Json file = entry.value("file", Json());
    if (!file.is_string()) return archive.broken(what + " names no entry");
    auto content = archive.read(file.get<std::string>(), storageBytes(*type), true);
    if (!content) return forward(content.error());
    HostTensor tensor = makeStridedTensor(*type);
    if (!content->empty()) std::memcpy(tensor.data(), content->data(), content->size());
    return tensor;
}

Result<void> readTensors(const Archive &archive, const Json &json, PreparedTask &task)
{
    const Json inputs = json.value("inputs", Json::array());
    const Json weights = json.value("weights", Json::object());
    if (!inputs.is_array() || !weights.is_object())
        return archive.broken("its tensors are not listed as they should be");
    for (const Json &entry : inputs) {
        if (!entry.is_object()) return archive.broken("an input is not described by an object");
        auto tensor = readTensor(archive, entry, "input " + std::to_string(task.capturedInputs.size()));
        if (!tensor) return forward(tensor.error());
        task.capturedInputs.push_back(std::move(*tensor));
    }
    for (const auto &[name, entry] : weights.items()) {
        if (!entry.is_object()) return archive.broken("weight '" + name + "' is not described by an object");
        auto tensor = readTensor(archive, entry, "weight '" + name + "'");
        if (!tensor) return forward(tensor.error());
        task.weights.emplace(name, std::move(*tensor));
    }
    return {};
}

Result<void> checkInputs(const Archive &archive, const PreparedTask &task)
{
    const std::vector<TensorType> &types = task.task.cases.front().inputs;
    if (task.capturedInputs.size() != types.size())
        return archive.broken("it has " + std::to_string(task.capturedInputs.size()) +
                              " input tensors instead of " + std::to_string(types.size()));
    for (std::size_t i = 0; i < types.size(); ++i)
        if (task.capturedInputs[i].type.sizes != types[i].sizes ||
            task.capturedInputs[i].type.dtype != types[i].dtype)
            return archive.broken("input " + std::to_string(i) + " is " +
                                  describe(task.capturedInputs[i].type) + " instead of " +
                                  describe(types[i]));
    return {};
}

Result<void> writeArchive(const PreparedTask &task, const std::string &path)
{
    Json json{{"format", formatName}, {"version", formatVersion}, {"task", task.task}};
    json["inputs"] = Json::array();
    json["weights"] = Json::object();
    auto archive = Archive::open(path, ZIP_CREATE | ZIP_TRUNCATE);
    if (!archive) return forward(archive.error());
    int count = 0;
    const auto add = [&](Json &entry, const HostTensor &tensor) {
        const std::string name = "tensors/" + std::to_string(count++);
        entry = Json{{"type", tensor.type}, {"file", name}};
        return addTensor(*archive, name, tensor);
    };
    for (const HostTensor &input : task.capturedInputs)
        if (const auto added = add(json["inputs"].emplace_back(), input); !added) return added;
    for (const auto &[name, weight] : task.weights)
        if (const auto added = add(json["weights"][name], weight); !added) return added;
    const std::string text = writeJson(json);
    if (const auto added = archive->add("task.json", std::as_bytes(std::span(text)), true); !added)
        return added;
    return archive->finish();
}

} // namespace

Result<void> writeTaskFile(const PreparedTask &task, const std::string &path)
{
    // Written beside and moved into place: a reader never sees half a file.
    namespace fs = std::filesystem;
    const std::string unfinished = path + ".part";
    std::error_code error;
    const auto written = writeArchive(task, unfinished);
    if (!written) {
        fs::remove(unfinished, error);
        return written;
    }
    fs::rename(unfinished, path, error);
    if (!error) return {};
    const std::string reason = error.message();
    fs::remove(unfinished, error);
    return fail(ErrorCode::Io, "cannot write the task file '" + path + "': " + reason);
}

Result<PreparedTask> readTaskFile(const std::string &path)
{
    const auto archive = Archive::open(path, ZIP_RDONLY | ZIP_CHECKCONS);
    if (!archive) return forward(archive.error());
    const auto text = archive->read("task.json", mostJsonBytes, false);
    if (!text) return forward(text.error());
    const std::string_view view(reinterpret_cast<const char *>(text->data()), text->size());
    const auto json = parseJson(view, "task.json of '" + path + "'");
    if (!json) return forward(json.error());
    if (!json->is_object() || json->value("format", Json()) != formatName)
        return archive->broken("its task.json is not one of this program's");
    if (json->value("version", Json()) != formatVersion)
        return archive->broken("it was written by another version; cut the task from its model again");
    auto task = readJson<Task>(json->value("task", Json()), "task.json of '" + path + "'");
    if (!task) return forward(task.error());
    PreparedTask prepared{std::move(*task), {}, {}};
    if (const auto valid = validateTask(prepared.task); !valid)
        return forward(valid.error(), "'" + path + "'");
    if (const auto read = readTensors(*archive, *json, prepared); !read) return forward(read.error());
    if (const auto checked = checkInputs(*archive, prepared); !checked) return forward(checked.error());
    return prepared;
}

} // namespace kernelwright
