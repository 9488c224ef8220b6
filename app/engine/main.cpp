// SPDX-License-Identifier: GPL-3.0-or-later
// kernelwright-engine: serves one client on its standard input and output until the client goes.
#include "engine/service.h"
#include "engine/service_loop.h"
#include "engine/service_streams.h"

#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <unistd.h>

using namespace kernelwright;

namespace
{
enum ExitStatus { exitDone = 0, exitUsage = 2, exitAbandoned = 3 };

constexpr const char *usage =
    "usage: kernelwright-engine [--version | --help]\n"
    "\n"
    "Runs models and judges candidate kernels for kernelwright and kernelwright-cli, which start it "
    "themselves, also\n"
    "through 'ssh HOST kernelwright-engine'. Speaks JSON-RPC 2.0, one message a line, on its standard input "
    "and output;\n"
    "its log goes to the standard error. Ends when its standard input does.\n"
    "\n"
    "exit status: 0 the client is done, 2 wrong usage, 3 a request could not be brought to its end\n";

std::string banner(const Json &identity)
{
    return "kernelwright-engine " + identity.at("engine").get<std::string>() + ", protocol " +
           std::to_string(protocol::version) + ", LibTorch " + identity.at("torch").get<std::string>() +
           ", NVRTC " + identity.at("nvrtc").get<std::string>();
}

int serveClient(const Json &identity)
{
    // Ctrl+C in a terminal reaches the client, too, which ends this process when it has no more use for it.
    if (!::isatty(STDIN_FILENO))
        std::signal(SIGINT, SIG_IGN);
    else
        std::fputs("this program talks to kernelwright and kernelwright-cli, not to people; see --help\n",
                   stderr);
    std::signal(SIGPIPE, SIG_IGN);
    const Result<ProtocolStreams> streams = takeStandardStreams();
    if (!streams) {
        std::fprintf(stderr, "kernelwright-engine: %s\n", streams.error().message.c_str());
        return exitAbandoned;
    }
    LoopOptions options;
    options.identity = identity;
    options.abandon = [](const std::string &why) {
        std::fprintf(stderr, "kernelwright-engine ends: %s\n", why.c_str());
        std::_Exit(exitAbandoned); // a thread that hangs in a kernel or a driver cannot be joined
    };
    std::fprintf(stderr, "%s, process %d\n", banner(identity).c_str(), static_cast<int>(::getpid()));
    serve(
        streams->input.number(), streams->output.number(), [] { return std::make_unique<EngineService>(); },
        options);
    return exitDone;
}
} // namespace

int main(int argc, char **argv)
{
    std::setlocale(LC_ALL, "");
    std::setlocale(LC_NUMERIC,
                   "C"); // numbers in messages and kernels have a point, whatever the user's language
    const Json identity = engineIdentity(KERNELWRIGHT_VERSION);
    if (argc == 1) return serveClient(identity);
    const std::string_view option = argv[1];
    if (argc == 2 && option == "--version") {
        std::printf("%s\n", banner(identity).c_str());
        return exitDone;
    }
    if (argc == 2 && option == "--help") {
        std::fputs(usage, stdout);
        return exitDone;
    }
    std::fprintf(stderr, "kernelwright-engine: unexpected argument '%s'\n%s", argv[1], usage);
    return exitUsage;
}
