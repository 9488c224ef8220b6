// SPDX-License-Identifier: GPL-3.0-or-later
#include "compiled_baseline.h"

#include "base/child_process.h"
#include "base/disk_cache.h"
#include "base/resources.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace kernelwright
{

namespace
{
namespace fs = std::filesystem;

/// Where it was asked for, and where it only happens to be configured: then it must not use up a candidate's
/// time.
constexpr std::chrono::seconds longestAsked{300}, longestUnasked{75};
constexpr std::size_t fewestSamples = 10;

std::string environment(const char *name)
{
    const char *value = std::getenv(name);
    return value ? value : "";
}

/// Everything that a time depends on, as text.
std::string keyOf(const CompiledBaseline::Request &request, const PythonChoice &python)
{
    const ShapeCase &shapes = request.task.task.cases.front();
    std::string key = writeJson(Json(shapes.subgraph));
    for (const TensorType &type : shapes.inputs)
        key += "; " + describe(type);
    return key + "; " + request.device.name + "; driver " + request.device.driver + "; " + python.program +
           (request.warmCache ? "; warm" : "");
}

Result<Json> readJsonFile(const fs::path &file)
{
    std::ifstream stream(file);
    if (!stream) return fail(ErrorCode::Io, "'" + file.string() + "' cannot be read");
    const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    return parseJson(text, "'" + file.string() + "'");
}

constexpr const char *cacheKind = "compiled-baselines";

/// What was measured before; a damaged answer counts as none.
std::optional<CompiledTimes> readKept(const std::string &key)
{
    const auto answer = DiskCache(cacheKind).find(key);
    if (!answer) return std::nullopt;
    auto times = readCompiledTimes(*answer);
    return times ? std::optional(std::move(*times)) : std::nullopt;
}

/// A folder of its own, gone with the object.
class ScratchFolder
{
public:
    static Result<ScratchFolder> make()
    {
        std::error_code error;
        std::string pattern = (fs::temp_directory_path(error) / "kernelwright-baseline-XXXXXX").string();
        if (error || !mkdtemp(pattern.data()))
            return fail(ErrorCode::Io, "no folder for temporary files can be made in '" +
                                           fs::path(pattern).parent_path().string() + "'");
        return ScratchFolder(pattern);
    }
    ScratchFolder(ScratchFolder &&other) noexcept
        : path_(std::exchange(other.path_, fs::path()))
    {}
    ScratchFolder &operator=(ScratchFolder &&) = delete;
    ~ScratchFolder()
    {
        std::error_code ignored;
        if (!path_.empty()) fs::remove_all(path_, ignored);
    }
    fs::path operator/(const char *name) const { return path_ / name; }

private:
    explicit ScratchFolder(fs::path path)
        : path_(std::move(path))
    {}
    fs::path path_;
};

std::vector<double> readTimes(const Json &json, const char *key)
{
    auto times = json.at(key).get<std::vector<double>>();
    const auto isTime = [](double us) { return std::isfinite(us) && us > 0; };
    if (times.size() < fewestSamples || !std::all_of(times.begin(), times.end(), isTime))
        rejectJson(std::string(key) + " holds no usable times");
    return times;
}

} // namespace

void from_json(const Json &json, CompiledTimes &times)
{
    times.samplesUs = readTimes(json, "samples_us");
    times.eagerUs = readTimes(json, "eager_us");
    json.at("torch").get_to(times.torch);
    json.at("source").get_to(times.source);
    json.at("compile_seconds").get_to(times.compileSeconds);
    json.at("max_difference").get_to(times.maxDifference);
}
Result<CompiledTimes> readCompiledTimes(const Json &answer)
{
    const std::string what = "the answer of compile_baseline.py";
    if (!answer.is_object() || !answer.value("ok", Json()).is_boolean())
        return fail(ErrorCode::BadInput, what + " is not what it should be");
    if (!answer.at("ok").get<bool>()) {
        const Json reason = answer.value("reason", Json());
        return fail(ErrorCode::NotSupported,
                    reason.is_string() ? reason.get<std::string>() : "it gives no reason");
    }
    return readJson<CompiledTimes>(answer, what);
}

std::optional<PythonChoice> findPython()
{
    if (const std::string named = environment("KERNELWRIGHT_PYTHON"); !named.empty())
        return PythonChoice{named, true};
    for (const char *variable : {"VIRTUAL_ENV", "CONDA_PREFIX"})
        if (const std::string folder = environment(variable); !folder.empty())
            return PythonChoice{folder + "/bin/python3", false};
    return std::nullopt;
}

Result<CompiledTimes> CompiledBaseline::timesOf(const Request &request)
{
    const auto python = findPython();
    if (!python)
        return fail(ErrorCode::NotSupported, "no Python is configured: set KERNELWRIGHT_PYTHON to one that "
                                             "has torch, or activate an environment");
    const std::string key = keyOf(request, *python);
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
    if (auto kept = readKept(key)) return known_.emplace(key, std::move(*kept)).first->second;
    if (!request.mayMeasure && !python->isNamed)
        return fail(ErrorCode::NotSupported, "not asked for: it takes up to some minutes, once per task");
    Result<CompiledTimes> measured = measure(request, *python);
    if (measured || measured.error().code != ErrorCode::Cancelled) known_.emplace(key, measured);
    return measured;
}

Result<CompiledTimes> CompiledBaseline::measure(const Request &request, const PythonChoice &python)
{
    const auto folder = ScratchFolder::make();
    if (!folder) return forward(folder.error());
    const fs::path task = *folder / "baseline.task", answer = *folder / "answer.json",
                   output = *folder / "output";
    if (const auto written = writeTaskFile(request.task, task.string()); !written)
        return forward(written.error());
    if (request.onProgress)
        request.onProgress("torch.compile tunes its own kernels for this task in " + python.program +
                           "; this takes up to some minutes, once per task and device");
    const std::chrono::seconds longest = request.mayMeasure ? longestAsked : longestUnasked;
    ChildRequest child;
    child.command = {python.program,
                     (resourceDirectory() / "baselines" / "compile_baseline.py").string(),
                     task.string(),
                     "--device",
                     request.device.id,
                     "--answer",
                     answer.string(),
                     "--deadline",
                     std::to_string(longest.count())};
    if (request.warmCache) child.command.emplace_back("--warm");
    child.output = output;
    child.timeout = longest + std::chrono::seconds(5); // it gives up by itself before that
    child.cancel = request.cancel;
    const auto end = runChild(child);
    if (!end) return forward(end.error());
    if (end->signal != 0 || end->status != 0) {
        const std::string last = lastLines(output);
        return fail(ErrorCode::NotSupported,
                    python.program + " ended " +
                        (end->signal ? "by signal " + std::to_string(end->signal)
                                     : "with status " + std::to_string(end->status)) +
                        (last.empty() ? "" : ": " + last));
    }
    const auto json = readJsonFile(answer);
    if (!json) return forward(json.error());
    auto times = readCompiledTimes(*json);
    if (times) DiskCache(cacheKind).keep(keyOf(request, python), *json);
    return times;
}

} // namespace kernelwright
