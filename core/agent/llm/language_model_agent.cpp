// SPDX-License-Identifier: GPL-3.0-or-later
#include "language_model_agent.h"

#include "base/text.h"
#include "http/url.h"
#include "prompt/prompt_files.h"
#include "prompt/template.h"
#include "reply/reply.h"
#include "reply/reply_splitter.h"

#include <functional>

namespace kernelwright
{

namespace
{

/// What a reply says beside its code, which has its own place.
std::string proseOf(const std::string &reply)
{
    std::string prose;
    ReplySplitter splitter([&](std::string_view words) { prose += words; }, [](std::string_view) {});
    splitter.take(reply);
    splitter.end();
    return prose;
}

/// A short name for requests that begin alike, the same in every run.
std::string cacheKeyOf(const Task &task)
{
    return "kernelwright-" + toIdentifier(task.id).substr(0, 48);
}

class LanguageModelAgent : public Agent
{
public:
    explicit LanguageModelAgent(LanguageModelSettings settings)
        : settings_(std::move(settings))
        , client_(settings_.endpoint, settings_.client)
    {}

    std::string name() const override { return settings_.model.empty() ? "language model" : settings_.model; }

    Result<void> canWrite(const Task &task) const override
    {
        if (task.outputs.empty())
            return fail(ErrorCode::NotSupported, "'" + task.title + "' has no output to compute");
        return {};
    }

    Result<AgentPrompt> prompt(const AgentRequest &request) const override
    {
        if (request.prompt) return *request.prompt;
        const auto files = readPromptFiles(settings_.resources);
        if (!files) return forward(files.error());
        return assemblePrompt(request, *files, suggestionFor(request), settings_.prompt);
    }

    Result<Proposal> propose(const AgentRequest &request, const AgentStream &stream,
                             const CancelToken &cancel) override;

private:
    Result<void> chooseModel(const CancelToken &cancel);
    std::string suggestionFor(const AgentRequest &request) const;
    Result<ChatReply> ask(const ChatRequest &chat, const AgentStream &stream, Usage &spent,
                          const CancelToken &cancel);
    Usage usageOf(const TokenCount &tokens) const;
    ModelTraits traits() const;
    Result<ParsedReply> read(const ChatReply &reply, const AgentRequest &request) const;
    Result<void> checkPlan(const std::string &source, const AgentRequest &request) const;
    Result<std::string> repairWords(const Error &error, const AgentRequest &request) const;

    void warnOfPlainKey(const AgentStream &stream);

    LanguageModelSettings settings_;
    ChatClient client_;
    bool isWarned_ = false;
};

void LanguageModelAgent::warnOfPlainKey(const AgentStream &stream)
{
    const auto url = parseUrl(settings_.endpoint.baseUrl);
    const bool isPlain = url && url->scheme == "http" && !url->isLoopback();
    if (!isPlain || settings_.endpoint.key.isEmpty() || std::exchange(isWarned_, true) || !stream.onNote)
        return;
    stream.onNote("Key and prompts travel unencrypted to " + url->place() +
                  ": use https where it is offered.");
}

Result<void> LanguageModelAgent::chooseModel(const CancelToken &cancel)
{
    if (!settings_.model.empty()) return {};
    const auto models = client_.models(cancel);
    if (!models) return forward(models.error(), "no model is named and the list of them cannot be had");
    if (models->size() == 1) {
        settings_.model = models->front().id;
        return {};
    }
    std::vector<std::string> names;
    for (const ModelDescription &model : *models)
        if (names.size() < 12) names.push_back(inlineText(model.id, 80));
    if (names.empty())
        return fail(ErrorCode::BadInput,
                    settings_.endpoint.baseUrl + " offers no model: load one there, or name it");
    return fail(ErrorCode::BadInput, "name the model to use; " + settings_.endpoint.baseUrl + " offers " +
                                         joinText(names, ", ") +
                                         (models->size() > names.size() ? " and more" : ""));
}

/// The playbook looks at the same numbers in a moment and for nothing.
std::string LanguageModelAgent::suggestionFor(const AgentRequest &request) const
{
    if (!request.parent || !request.parent->evaluation || !isCorrect(request.parent->evaluation->verdict))
        return {};
    AgentRequest plain = request;
    plain.instruction.clear();
    const auto playbook = makePlaybookAgent();
    if (!playbook->canWrite(plain.task)) return {};
    const auto proposal = playbook->propose(plain, {}, {});
    return proposal ? proposal->summary + "\n\n" + proposal->reasoning : std::string();
}

ModelTraits LanguageModelAgent::traits() const
{
    const KnownModel *known = settings_.table.find(settings_.model);
    return known ? known->traits : ModelTraits{};
}

Usage LanguageModelAgent::usageOf(const TokenCount &tokens) const
{
    const std::optional<double> cost = settings_.table.cost(settings_.model, tokens);
    Usage usage;
    usage.inputTokens = tokens.input;
    usage.outputTokens = tokens.output;
    usage.cachedTokens = tokens.cacheRead;
    usage.costUsd = cost.value_or(0);
    usage.isCostKnown = cost.has_value();
    usage.isEstimated = tokens.isEstimated;
    return usage;
}

Result<ChatReply> LanguageModelAgent::ask(const ChatRequest &chat, const AgentStream &stream, Usage &spent,
                                          const CancelToken &cancel)
{
    const auto say = [&](std::string_view text) {
        if (stream.onReasoning) stream.onReasoning(text);
    };
    ReplySplitter splitter(say, [&](std::string_view code) {
        if (stream.onSource) stream.onSource(code);
    });
    bool isThinking = false;
    ChatListener listener;
    listener.onReasoning = [&](std::string_view text) {
        isThinking = true;
        say(text);
    };
    listener.onText = [&](std::string_view text) {
        if (std::exchange(isThinking, false)) say("\n\n");
        splitter.take(text);
    };
    listener.onNote = stream.onNote;
    listener.onTokens = [&](const TokenCount &tokens) {
        if (tokens.input == 0 && tokens.output == 0) return;
        const Usage usage = usageOf(tokens);
        spent += usage;
        if (stream.onSpent) stream.onSpent(usage);
    };
    auto reply = client_.ask(chat, traits(), listener, cancel);
    splitter.end();
    return reply;
}

Result<void> LanguageModelAgent::checkPlan(const std::string &source, const AgentRequest &request) const
{
    const auto plan = parseLaunchPlan(source);
    if (!plan) return forward(plan.error(), "the file's launch plan cannot be read");
    if (request.task.cases.empty()) return {};
    const auto resolved =
        resolveLaunchPlan(*plan, request.task, request.task.cases.front(), request.device.limits);
    if (!resolved) return forward(resolved.error(), "the file's launch plan does not fit the task");
    return {};
}

Result<ParsedReply> LanguageModelAgent::read(const ChatReply &reply, const AgentRequest &request) const
{
    return parseReply(reply.text, request.parent ? request.parent->source : std::string());
}

Result<std::string> LanguageModelAgent::repairWords(const Error &error, const AgentRequest &request) const
{
    const auto files = readPromptFiles(settings_.resources);
    if (!files) return forward(files.error());
    return fillTemplate(files->texts.at("repair-reply"), {{"error", inlineText(error.message, 1500)},
                                                          {"can_edit", request.parent ? "yes" : ""}});
}

Result<Proposal> LanguageModelAgent::propose(const AgentRequest &request, const AgentStream &stream,
                                             const CancelToken &cancel)
{
    if (auto chosen = chooseModel(cancel); !chosen) return forward(chosen.error());
    warnOfPlainKey(stream);
    const auto prompt = this->prompt(request);
    if (!prompt) return forward(prompt.error());
    ChatRequest chat{settings_.model, prompt->system, {}, cacheKeyOf(request.task)};
    chat.messages.push_back({ChatMessage::Role::User, {prompt->task + "\n\n", prompt->step}});

    Proposal proposal;
    std::string why;
    for (int attempt = 1; attempt <= 2; ++attempt) {
        const auto reply = ask(chat, stream, proposal.usage, cancel);
        if (!reply) return forward(reply.error());
        if (!reply->reasoning.empty()) proposal.reasoning += reply->reasoning + "\n\n";
        if (reply->stop == StopReason::Refused && !isWholeFile(reply->text))
            return fail(ErrorCode::BadInput,
                        name() + " declined to answer" +
                            (reply->refusal.empty() ? "" : " (“" + inlineText(reply->refusal) + "”)") +
                            ": choose another model, or change the prompt");
        const auto parsed = read(*reply, request);
        Result<void> checked = parsed ? checkPlan(parsed->source, request) : forward(parsed.error());
        if (parsed) {
            proposal.source = parsed->source;
            proposal.summary = parsed->summary;
        }
        proposal.reasoning += proseOf(reply->text) + "\n\n";
        if (checked) break;
        // A file whose plan does not hold is still a candidate: its verdict tells the next proposal what is
        // wrong.
        why = checked.error().message;
        if (attempt == 2) break;
        if (stream.onNote) stream.onNote("The reply cannot be used (" + why + "): asked once to repair it.");
        const auto words = repairWords(checked.error(), request);
        if (!words) return forward(words.error());
        chat.messages.push_back(
            {ChatMessage::Role::Assistant, {reply->text.empty() ? "(nothing)" : reply->text}});
        chat.messages.push_back({ChatMessage::Role::User, {*words}});
    }
    proposal.reasoning = trimText(proposal.reasoning);
    if (proposal.source.empty())
        return fail(ErrorCode::BadInput, name() + " gave no usable code, asked twice: " + why);
    return proposal;
}

} // namespace

std::unique_ptr<Agent> makeLanguageModelAgent(LanguageModelSettings settings)
{
    return std::make_unique<LanguageModelAgent>(std::move(settings));
}

} // namespace kernelwright
