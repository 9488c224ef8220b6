// SPDX-License-Identifier: GPL-3.0-or-later
#include "fuzz_targets.h"

#include "engine/import/export_graph.h"
#include "engine/import/export_importer.h"
#include "engine/import/export_schema.h"
#include "engine/import/model_file.h"
#include "engine/import/pickle_reader.h"
#include "engine/import/saved_object.h"
#include "engine/import/traced_inputs.h"
#include "engine/reference/input_checks.h"
#include "memory_archive.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <sys/mman.h>
#include <unistd.h>

namespace kernelwright
{

namespace
{

/// An error without a sentence would leave the user alone with it.
template <class Value>
bool succeeded(const Result<Value> &result)
{
    if (result) return true;
    if (result.error().message.size() > 4) return false;
    std::fputs("an error without a message\n", stderr);
    std::abort();
}

/// Small inputs in place of random ones, which a hostile graph may ask for in any size.
ImportOptions withoutRandomInputs()
{
    ImportOptions options;
    options.exampleInputs.assign(16, makeHostTensor(DType::Float32, {1}));
    return options;
}

void fuzzProgram(std::string_view bytes)
{
    const Result<Json> program = parseJson(bytes, "the program");
    if (!succeeded(program)) return;
    const Result<ExportedGraph> graph = graphFromExport(*program, "the program");
    if (!succeeded(graph)) return;
    const Json written = graph->graph; // what a client is sent
    (void)written.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void fuzzPickle(std::string_view bytes)
{
    const Result<Pickle> pickle = readPickle(bytes, "the pickle");
    if (!succeeded(pickle)) return;
    for (const PickleValue &value : pickle->values)
        (void)savedTensorType(value);
    (void)findEntry(*pickle->root, "args");
}

/// The pieces of `bytes`, which a line of its own separates, as records of these names; names without a piece
/// are left out.
MemoryRecords piecesAs(std::string_view bytes, std::initializer_list<const char *> names)
{
    constexpr std::string_view separator = "\n----\n";
    MemoryRecords records;
    for (const char *name : names) {
        const std::size_t end = bytes.find(separator);
        records.emplace_back(name, bytes.substr(0, end));
        if (end == std::string_view::npos) break;
        bytes.remove_prefix(end + separator.size());
    }
    return records;
}

void importRecords(const MemoryRecords &records)
{
    const Result<ZipArchive> archive = ZipArchive::openRecord(memoryArchive(records), "model.pt2");
    if (succeeded(archive)) (void)succeeded(importExportedProgram(*archive, withoutRandomInputs()));
}

void fuzzArchive(std::string_view bytes)
{
    importRecords(piecesAs(bytes, {"m/models/model.json", "m/data/weights/model_weights_config.json",
                                   "m/data/weights/weight_0", "m/data/constants/model_constants_config.json",
                                   "m/data/constants/tensor_0", "m/data/sample_inputs/model.pt"}));
}

/// The layout of PyTorch 2.6, whose weights and inputs are archives inside the archive.
void fuzzFlatArchive(std::string_view bytes)
{
    const MemoryRecords pieces = piecesAs(bytes, {"program", "pickle", "storage", "inputs"});
    MemoryRecords records{{"serialized_exported_program.json", pieces[0].second}};
    std::array<ZipRecord, 2> inner;
    if (pieces.size() > 1) {
        const std::string_view storage = pieces.size() > 2 ? pieces[2].second : std::string_view();
        inner[0] = memoryArchive({{"archive/data.pkl", pieces[1].second}, {"archive/data/0", storage}});
        records.emplace_back("serialized_state_dict.pt", inner[0].text());
    }
    if (pieces.size() > 3) {
        inner[1] =
            memoryArchive({{"archive/data.pkl", pieces[3].second}, {"archive/data/0", pieces[2].second}});
        records.emplace_back("serialized_example_inputs.pt", inner[1].text());
    }
    importRecords(records);
}

/// Any file: what it is taken for, and what our own code reads of it.
void fuzzFile(std::string_view bytes)
{
    const int file = memfd_create("model", MFD_CLOEXEC);
    if (file < 0 || write(file, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
        std::abort();
    const Result<ModelFile> model = openModelFile("/proc/self/fd/" + std::to_string(file));
    if (succeeded(model)) {
        if (model->kind == ModelFile::Kind::TorchScript)
            (void)tracedInputTypes(model->archive);
        else
            (void)succeeded(importExportedProgram(model->archive, withoutRandomInputs()));
    }
    close(file);
}

void fuzzExpression(std::string_view bytes)
{
    const std::string readable = readableExpression(std::string(bytes));
    (void)evaluateSymbols(readable, {{"s0", 7}, {"s1", -3}, {"u0", INT64_MAX}});
}

constexpr std::array<FuzzTarget, 6> targets{{{"program", fuzzProgram},
                                             {"pickle", fuzzPickle},
                                             {"archive", fuzzArchive},
                                             {"flat_archive", fuzzFlatArchive},
                                             {"file", fuzzFile},
                                             {"expression", fuzzExpression}}};

} // namespace

std::span<const FuzzTarget> fuzzTargets()
{
    return targets;
}

void runFuzzTarget(std::string_view name, std::string_view bytes)
{
    for (const FuzzTarget &target : targets)
        if (name == target.name) return target.run(bytes);
    std::fprintf(stderr, "there is no fuzz target of that name\n");
    std::abort();
}

} // namespace kernelwright
