// SPDX-License-Identifier: GPL-3.0-or-later
#include "agent/keychain/keychain.h"
#include "agent/llm/provider/model_table.h"
#include "agent_options.h"
#include "base/text.h"
#include "output.h"

namespace kernelwright::cli
{

namespace
{
std::string keyText(const Provider &provider)
{
    const FoundKey found = findKey(provider, provider.baseUrl, keychainLookup());
    if (!found.key.isEmpty()) return "from " + found.origin;
    if (!provider.needsKey) return "none needed";
    return "missing: set " +
           (provider.keyVariables.empty() ? keyVariableOf(provider.baseUrl) : provider.keyVariables.front());
}

Result<ExitStatus> listProviders(const Arguments &arguments)
{
    const auto providers = readProviders(providersFile());
    if (!providers) return forward(providers.error());
    Table table({{"AGENT"}, {"PROTOCOL"}, {"KEY"}, {"BASE URL"}, {"MODEL"}});
    table.add({"playbook", "", "none needed", "", "rules, no network"});
    Json list = Json::array({{{"name", "playbook"}, {"key", "none needed"}}});
    for (const Provider &provider : *providers) {
        const std::string key = keyText(provider);
        table.add({provider.name, provider.protocol, key, provider.baseUrl, provider.defaultModel});
        list.push_back({{"name", provider.name},
                        {"title", provider.title},
                        {"protocol", provider.protocol},
                        {"base_url", provider.baseUrl},
                        {"key", key},
                        {"default_model", provider.defaultModel}});
    }
    if (auto written = writeResult(arguments, {{"agents", list}}); !written) return forward(written.error());
    print(table.text() + "\nkernelwright-cli agents --agent NAME lists the models it offers.\n");
    return ExitStatus::Done;
}

std::string perMillion(double price)
{
    return "$" + formatFixed(price, price < 1 ? 3 : 2);
}

Result<ExitStatus> listModels(const Invocation &invocation)
{
    const Arguments &arguments = invocation.arguments;
    const auto choice = resolveChoice(agentChoice(arguments), keychainLookup());
    if (!choice) return forward(choice.error());
    const auto prices = ModelTable::read(ModelTable::usualFiles());
    if (!prices) return forward(prices.error());
    ChatClient client(choice->endpoint, usualClientSettings());
    const auto models = client.models(invocation.interrupt.token());
    if (!models) return forward(models.error());

    constexpr auto right = Table::Align::Right;
    Table table({{"MODEL"}, {"$/M INPUT", right}, {"$/M OUTPUT", right}, {""}});
    Json list = Json::array();
    for (const ModelDescription &model : *models) {
        const KnownModel *known = prices->find(model.id);
        const bool isPriced = known && known->prices;
        table.add({printable(model.id), isPriced ? perMillion(known->prices->input) : "unknown",
                   isPriced ? perMillion(known->prices->output) : "unknown", printable(model.title)});
        list.push_back({{"id", model.id},
                        {"title", model.title},
                        {"input_price", isPriced ? Json(known->prices->input) : Json()},
                        {"output_price", isPriced ? Json(known->prices->output) : Json()}});
    }
    if (auto written = writeResult(arguments, {{"base_url", choice->endpoint.baseUrl}, {"models", list}});
        !written)
        return forward(written.error());
    print(models->empty() ? choice->endpoint.baseUrl + " offers no models.\n" : table.text());
    return ExitStatus::Done;
}

Result<ExitStatus> run(const Invocation &invocation)
{
    const bool isChosen =
        invocation.arguments.isSet("agent") && invocation.arguments.value("agent") != "playbook";
    return isChosen ? listModels(invocation) : listProviders(invocation.arguments);
}
} // namespace

Command agentsCommand()
{
    return {
        "agents",
        "",
        0,
        "List who can propose kernels, and the models of one of them.",
        "Keys are read from the environment, or from the system's keychain, where the workbench puts them.",
        agentOptions() + QList<QCommandLineOption>{jsonOption()},
        run};
}

} // namespace kernelwright::cli
