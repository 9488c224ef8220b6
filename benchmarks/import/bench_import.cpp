// SPDX-License-Identifier: GPL-3.0-or-later
// bench_import [gigabytes]: how long imports take and how much memory they hold. The limits that stand beside
// the numbers are what users are promised; the exit status says whether they hold on this machine.
#include "engine/import/importer.h"
#include "llama_export.h"

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <unistd.h>

using namespace kernelwright;

namespace
{

constexpr double mebibyte = 1024.0 * 1024.0;

/// A line of /proc/self/status, in MiB: "VmHWM:" is the peak, "RssAnon:" what is not in mapped files.
double memoryOf(const std::string &key)
{
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
        double kibibytes = 0;
        if (word == key && status >> kibibytes) return kibibytes / 1024.0;
    }
    return 0;
}

class Files
{
public:
    Files()
        : folder_(std::filesystem::temp_directory_path() / ("bench_import." + std::to_string(getpid())))
    {
        std::filesystem::create_directories(folder_);
    }
    Files(const Files &) = delete;
    Files &operator=(const Files &) = delete;
    ~Files() { std::filesystem::remove_all(folder_); }
    std::string path(const std::string &name) const { return folder_ / name; }

private:
    std::filesystem::path folder_;
};

bool report(const std::string &what, const std::string &path, bool readWeights, double mostSeconds,
            double mostAnonymous)
{
    const double before = memoryOf("RssAnon:");
    const std::clock_t processorStart = std::clock();
    const auto start = std::chrono::steady_clock::now();
    const Result<ImportedModel> model = importModel(path, {.readWeights = readWeights});
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const double processor = static_cast<double>(std::clock() - processorStart) / CLOCKS_PER_SEC;
    if (!model) {
        std::cout << what << ": " << model.error().message << "\n";
        return false;
    }
    const double held = memoryOf("RssAnon:") - before;
    const double file = static_cast<double>(std::filesystem::file_size(path)) / mebibyte;
    const bool holds = seconds <= mostSeconds && memoryOf("VmHWM:") <= 1024 + (readWeights ? file : 0) &&
                       held <= mostAnonymous;
    std::cout << what << ": " << model->graph.nodes.size() << " nodes of a file of " << file << " MiB in "
              << seconds << " s (at most " << mostSeconds << "), " << processor
              << " s of them computing; holds " << held << " MiB (at most " << mostAnonymous << "), peak "
              << memoryOf("VmHWM:") << " MiB" << (holds ? "" : "  <-- too much") << "\n";
    return holds;
}

} // namespace

int main(int count, char **arguments)
{
    const double gigabytes = count > 1 ? std::atof(arguments[1]) : 1.0;
    const Files files;
    writeProgram(files.path("llama.pt2"), llamaProgram({}));
    writeProgram(files.path("chain.pt2"), chainProgram(10000));
    constexpr std::int64_t recordBytes = std::int64_t{64} << 20;
    const auto records = static_cast<int>(gigabytes * 1e9 / static_cast<double>(recordBytes)) + 1;
    writeSparseWeights(files.path("weights.pt2"), records, recordBytes);
    bool holds = report("7-billion-parameter Llama, graph only", files.path("llama.pt2"), false, 2, 300);
    holds = report("10000 nodes", files.path("chain.pt2"), false, 1, 300) && holds;
    holds = report("weights, graph only", files.path("weights.pt2"), false, 1, 64) && holds;
    holds = report("weights, in place", files.path("weights.pt2"), true, 2 + 4 * gigabytes, 64) && holds;
    return holds ? EXIT_SUCCESS : EXIT_FAILURE;
}
