// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a fuzz case on every file of the folders it is given; a crash or a failed check ends it.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size);

int main(int argumentCount, char **arguments)
{
    std::size_t count = 0;
    for (int i = 1; i < argumentCount; ++i) {
        std::error_code error;
        for (const auto &entry : std::filesystem::directory_iterator(arguments[i], error)) {
            std::ifstream file(entry.path(), std::ios::binary);
            const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
            std::cout << entry.path().filename().string() << std::endl;
            LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t *>(bytes.data()), bytes.size());
            ++count;
        }
    }
    if (count == 0) {
        std::cerr << "there is nothing to replay: name folders that hold inputs\n";
        return 1;
    }
    return 0;
}
