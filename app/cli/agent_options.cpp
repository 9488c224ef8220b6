// SPDX-License-Identifier: GPL-3.0-or-later
#include "agent_options.h"

#include "agent/keychain/keychain.h"

namespace kernelwright::cli
{

QList<QCommandLineOption> agentOptions()
{
    return {
        QCommandLineOption("agent",
                           "Who proposes: playbook (built in, the default), anthropic, openai, openrouter, "
                           "ollama, llama.cpp, vllm; 'kernelwright-cli agents' tells more.",
                           "NAME"),
        QCommandLineOption("model", "The language model; default: the agent's own, or the server's only one.",
                           "NAME"),
        QCommandLineOption("base-url", "Where the agent's protocol is spoken, for servers of your own.",
                           "URL"),
        QCommandLineOption("api",
                           "The protocol: anthropic, responses or chat. Default: as the agent; chat for "
                           "openai with a base URL of its own.",
                           "NAME")};
}

AgentChoice agentChoice(const Arguments &arguments)
{
    AgentChoice choice;
    if (arguments.isSet("agent")) choice.name = arguments.value("agent").toStdString();
    choice.model = arguments.value("model").toStdString();
    choice.baseUrl = arguments.value("base-url").toStdString();
    choice.protocol = arguments.value("api").toStdString();
    return choice;
}

Result<std::unique_ptr<Agent>> agentOf(const Arguments &arguments)
{
    AgentChoice choice = agentChoice(arguments);
    if (arguments.isSet("print-prompt"))
        choice.key = Secret("nothing-is-sent"); // so that a look needs no key
    return makeAgent(choice, keychainLookup(), usualClientSettings());
}

} // namespace kernelwright::cli
