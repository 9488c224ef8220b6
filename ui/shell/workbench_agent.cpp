// SPDX-License-Identifier: GPL-3.0-or-later
// Which agent works for the person: choosing it, its key, its prompt, what it costs.
#include "agent/keychain/keychain.h"
#include "agent/llm/http/url.h"
#include "base/text.h"
#include "message_bar.h"
#include "ui/agent/agent_dialog.h"
#include "ui/agent/agent_pane.h"
#include "ui/agent/prompt_window.h"
#include "ui/log/log_pane.h"
#include "ui/models/display_text.h"
#include "workbench.h"

#include <QPointer>
#include <QThreadPool>

namespace kernelwright::ui
{

namespace
{
QString setting(const char *name)
{
    return QStringLiteral("agent/") + QLatin1String(name);
}
} // namespace

void Workbench::loadAgentSettings()
{
    const QSettings &settings = window_.settings();
    const auto text = [&](const char *name) {
        return settings.value(setting(name)).toString().toStdString();
    };
    agentChoice_.name = text("name").empty() ? "playbook" : text("name");
    agentChoice_.model = text("model");
    agentChoice_.baseUrl = text("baseUrl");
    agentChoice_.protocol = text("protocol");
    maximumCostUsd_ = settings.value(setting("maximumCost")).toDouble();
    backend_.setAgent(agentChoice_);
}

void Workbench::useAgent(const AgentChoice &choice, double maximumCostUsd)
{
    agentChoice_ = choice;
    maximumCostUsd_ = maximumCostUsd;
    QSettings &settings = window_.settings();
    const auto store = [&](const char *name, const std::string &value) {
        settings.setValue(setting(name), fromText(value));
    };
    store("name", choice.name);
    store("model", choice.model);
    store("baseUrl", choice.baseUrl);
    store("protocol", choice.protocol); // and never the key
    settings.setValue(setting("maximumCost"), maximumCostUsd);
    spent_ = {};
    backend_.setAgent(choice);
    updateBudget();
}

void Workbench::chooseAgent(const QString &sentence)
{
    const auto providers = readProviders(providersFile());
    if (!providers) {
        window_.messages->show(MessageBar::Level::Error, fromText(providers.error().message));
        return;
    }
    auto *dialog = new AgentDialog(*providers, agentChoice_, maximumCostUsd_, &window_);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    const auto showKey = [dialog] {
        const AgentChoice choice = dialog->choice();
        if (choice.name == "playbook") return;
        const auto resolved = resolveChoice(choice, keychainLookup());
        dialog->setKeyOrigin(!resolved ? fromText(resolved.error().message)
                             : resolved->keyOrigin.empty()
                                 ? tr("No key was found; servers on your own machine usually need none.")
                                 : tr("The key comes from %1.").arg(fromText(resolved->keyOrigin)));
    };
    connect(dialog, &AgentDialog::providerChanged, dialog, showKey);
    connect(dialog, &AgentDialog::modelsRequested, this, [this, dialog] { listModels(*dialog); });
    connect(dialog, &QDialog::accepted, this, [this, dialog] {
        if (dialog->keepsKey()) keepKey(dialog->choice());
        useAgent(dialog->choice(), dialog->maximumCostUsd());
    });
    dialog->showSentence(sentence);
    dialog->open();
    showKey();
}

void Workbench::keepKey(const AgentChoice &choice)
{
    const auto resolved = resolveChoice(choice);
    if (!resolved) return;
    const auto url = parseUrl(resolved->endpoint.baseUrl);
    const auto kept = writeKeychain(url ? url->place() : choice.name, choice.key);
    if (!kept)
        window_.messages->show(MessageBar::Level::Warning,
                               tr("The key is used until you close the window, but not kept: %1.")
                                   .arg(fromText(kept.error().message)));
}

void Workbench::listModels(AgentDialog &dialog)
{
    auto resolved = resolveChoice(dialog.choice(), keychainLookup());
    if (!resolved) {
        dialog.showSentence(fromText(resolved.error().message));
        return;
    }
    dialog.showSentence(tr("Asking %1 …").arg(fromText(resolved->endpoint.baseUrl)));
    const CancelToken cancel;
    connect(&dialog, &QObject::destroyed, this, [cancel] { cancel.cancel(); });
    QThreadPool::globalInstance()->start([target = QPointer<AgentDialog>(&dialog),
                                          owner = QPointer<Workbench>(this), cancel,
                                          endpoint = resolved->endpoint] {
        ChatClientSettings settings = usualClientSettings();
        settings.timeouts.firstByte = settings.timeouts.total = std::chrono::seconds(30);
        const auto models = ChatClient(endpoint, settings).models(cancel);
        QStringList names;
        if (models)
            for (const ModelDescription &model : *models)
                names << fromText(model.id);
        const QString error = models ? QString() : fromText(models.error().message);
        if (!owner) return;
        QMetaObject::invokeMethod(owner, [target, names, error] {
            if (!target) return;
            if (error.isEmpty())
                target->setModels(names);
            else
                target->showSentence(error);
        });
    });
}

/// The key is looked up at the last moment: the keychain may ask for its password, which nobody expects at
/// the start.
bool Workbench::agentIsReady()
{
    if (agentChoice_.name == "playbook") return true;
    AgentChoice ready = agentChoice_;
    auto resolved = resolveChoice(ready, keychainLookup());
    if (!resolved) {
        chooseAgent(fromText(resolved.error().message));
        return false;
    }
    if (maximumCostUsd_ > 0)
        if (const auto known = checkCostIsKnown(ready); !known) {
            chooseAgent(fromText(known.error().message));
            return false;
        }
    ready.key = resolved->endpoint.key;
    backend_.setAgent(ready);
    return true;
}

void Workbench::showPrompt()
{
    const Candidate *target = set_.find(promptTarget_);
    const std::string task = target ? target->taskId : currentTask_;
    if (task.empty()) {
        window_.messages->show(
            MessageBar::Level::Information,
            tr("There is no task to prompt for yet: press Optimise first, or select operators."));
        return;
    }
    if (agentIsReady()) backend_.preparePrompt(task, promptTarget_, window_.agent->words());
}

void Workbench::onPromptPrepared(const std::string &taskId, CandidateId parent, const AgentPrompt &prompt)
{
    const QString words = window_.agent->words();
    auto *window = new PromptWindow(prompt, titleOf(parent), &window_);
    window->setAttribute(Qt::WA_DeleteOnClose);
    connect(window, &PromptWindow::sendRequested, this, [=, this](const AgentPrompt &edited) {
        window_.agent->addPrompt(words.isEmpty() ? tr("(the prompt as shown and edited)") : words,
                                 titleOf(parent));
        following_ = true;
        backend_.prompt(taskId, parent, words, edited);
    });
    window->show();
}

void Workbench::onSpent(const Usage &usage)
{
    spent_ += usage;
    updateBudget();
}

QString Workbench::spentText() const
{
    if (spent_.isNothing()) return {};
    const QString tokens =
        fromText(formatCount(static_cast<double>(spent_.inputTokens + spent_.outputTokens))) + tr(" tokens");
    if (!spent_.isCostKnown) return tr("%1, price not known").arg(tokens);
    const QString cost = QStringLiteral("$") + fromText(formatFixed(spent_.costUsd, 2));
    if (maximumCostUsd_ <= 0) return QStringLiteral("%1, %2").arg(tokens, cost);
    return tr("%1, %2 of $%3").arg(tokens, cost, fromText(formatFixed(maximumCostUsd_, 2)));
}

} // namespace kernelwright::ui
