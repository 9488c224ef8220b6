// SPDX-License-Identifier: GPL-3.0-or-later
#include "agent_pane.h"

#include "iteration_card.h"
#include "prompt_box.h"
#include "ui/models/display_text.h"
#include "ui/theme/empty_hint.h"

#include <QBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QToolButton>

namespace kernelwright::ui
{

namespace
{

QLabel *line(const QString &text, const char *role)
{
    auto *label = new QLabel(text);
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Minimum);
    setRole(label, role);
    return label;
}

} // namespace

AgentPane::AgentPane(const ThemeController &themes, QWidget *parent)
    : QWidget(parent)
    , themes_(themes)
{
    auto *content = new QWidget;
    setRole(content, "surface");
    content->setAttribute(Qt::WA_StyledBackground);
    // Its height follows from its width alone; a least height for a least width would leave empty space at
    // the end.
    content->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Ignored);
    column_ = new QVBoxLayout(content);
    column_->setContentsMargins(10, 10, 10, 10);
    column_->setSpacing(8);
    column_->addStretch(1);
    scroll_ = new QScrollArea;
    scroll_->setWidget(content);
    scroll_->setWidgetResizable(true);
    scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll_->setAccessibleName(tr("Conversation with the agent"));
    hint_ = new EmptyHint(scroll_,
                          tr("The agent explains here what it tries and why.\n\nPress Optimise to start, or "
                             "select operators in the graph and press “Optimise these”."));
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(hint_, 1);
    column->addWidget(makeComposer());

    // The view follows what is written unless the person has scrolled up.
    connect(scroll_->verticalScrollBar(), &QScrollBar::valueChanged, this,
            [this](int value) { atEnd_ = value >= scroll_->verticalScrollBar()->maximum() - 4; });
    connect(scroll_->verticalScrollBar(), &QScrollBar::rangeChanged, this, [this](int, int maximum) {
        if (atEnd_) scroll_->verticalScrollBar()->setValue(maximum);
    });
    connect(&themes, &ThemeController::changed, this, &AgentPane::applyIcons);
    applyIcons();
    setActivity(Activity::Idle);
    setPromptTarget({});
}

QWidget *AgentPane::makeComposer()
{
    prompt_ = new PromptBox;
    prompt_->setAccessibleName(tr("Prompt for the agent"));
    target_ = new QLabel;
    setRole(target_, "muted");
    clearTarget_ = new QToolButton;
    clearTarget_->setAccessibleName(tr("Do not go on from this candidate"));
    clearTarget_->setToolTip(tr("Let the agent choose what to go on from"));
    send_ = new QPushButton(tr("Send"));
    send_->setToolTip(tr("Send the prompt (Enter)"));
    show_ = new QToolButton;
    show_->setText(tr("Show prompt"));
    show_->setToolTip(tr("Read and change what the language model will be asked"));
    choose_ = new QToolButton;
    choose_->setText(tr("Agent …"));
    choose_->setToolTip(tr("Choose who proposes: the playbook or a language model"));
    pause_ = new QToolButton;
    stop_ = new QToolButton;
    stop_->setAccessibleName(tr("Stop the search"));
    stop_->setToolTip(tr("Stop the search (Shift+F5); what was found stays"));
    budget_ = new QLabel;
    setRole(budget_, "muted");
    budget_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    connect(prompt_, &PromptBox::submitted, this, &AgentPane::promptSubmitted);
    connect(send_, &QPushButton::clicked, prompt_, &PromptBox::submit);
    connect(show_, &QToolButton::clicked, this, &AgentPane::promptShowRequested);
    connect(choose_, &QToolButton::clicked, this, &AgentPane::agentChoiceRequested);
    connect(clearTarget_, &QToolButton::clicked, this, &AgentPane::promptTargetCleared);
    connect(stop_, &QToolButton::clicked, this, &AgentPane::stopRequested);
    connect(pause_, &QToolButton::clicked, this, [this] {
        if (activity_ == Activity::Paused)
            emit resumeRequested();
        else
            emit pauseRequested();
    });

    auto *composer = new QWidget;
    composer->setAttribute(Qt::WA_StyledBackground);
    auto *column = new QVBoxLayout(composer);
    column->setContentsMargins(10, 8, 10, 8);
    column->setSpacing(6);
    auto *above = new QHBoxLayout;
    above->addWidget(target_);
    above->addWidget(clearTarget_);
    above->addStretch(1);
    above->addWidget(choose_);
    auto *below = new QHBoxLayout;
    below->addWidget(budget_, 1);
    below->addWidget(show_);
    below->addWidget(pause_);
    below->addWidget(stop_);
    below->addWidget(send_);
    column->addLayout(above);
    column->addWidget(prompt_);
    column->addLayout(below);
    return composer;
}

void AgentPane::applyIcons()
{
    const Theme &theme = themes_.theme();
    pause_->setIcon(
        themedIcon(theme, activity_ == Activity::Paused ? QStringLiteral("run") : QStringLiteral("pause")));
    stop_->setIcon(themedIcon(theme, QStringLiteral("stop")));
    clearTarget_->setIcon(themedIcon(theme, QStringLiteral("close")));
    send_->setIcon(themedIcon(theme, QStringLiteral("send")));
}

void AgentPane::add(QWidget *widget)
{
    column_->insertWidget(column_->count() - 1, widget);
    hint_->setEmpty(false);
}

void AgentPane::clear()
{
    while (column_->count() > 1) {
        QLayoutItem *item = column_->takeAt(0);
        delete item->widget();
        delete item;
    }
    cards_.clear();
    open_ = nullptr;
    cardCount_ = 0;
    atEnd_ = true;
    hint_->setEmpty(true);
}

void AgentPane::beginTask(const QString &title)
{
    add(line(title, "heading"));
}

IterationCard *AgentPane::addCard(const QString &title, const QString &origin)
{
    auto *card = new IterationCard(title, origin);
    connect(card, &IterationCard::activated, this, &AgentPane::candidateActivated);
    add(card);
    ++cardCount_;
    return card;
}

void AgentPane::beginIteration(const QString &title, const QString &origin)
{
    if (open_) endIteration(tr("It ended without code."));
    open_ = addCard(title, origin);
}

void AgentPane::appendReasoning(const QString &text)
{
    if (open_) open_->appendReasoning(text);
}

void AgentPane::putCandidate(const Candidate &candidate, const QString &origin)
{
    IterationCard *card = cardOf(candidate.id);
    if (!card) {
        const bool byPerson = candidate.author == "person";
        if (open_ && !byPerson) {
            card = open_;
            open_ = nullptr;
        } else {
            const QString author = byPerson ? tr("by hand") : fromText(candidate.author);
            card = addCard(candidateTitle(candidate),
                           origin.isEmpty() ? author : origin + QStringLiteral(" · ") + author);
        }
        cards_[candidate.id] = card;
        card->setCandidate(candidate);
        if (!byPerson && candidate.evaluation) card->setFolded(true);
        return;
    }
    card->setCandidate(candidate);
    if (candidate.evaluation && !card->isFolded()) card->setFolded(true);
}

void AgentPane::endIteration(const QString &failure)
{
    if (!open_) return;
    open_->setFailure(failure);
    open_->setFolded(true);
    open_ = nullptr;
}

void AgentPane::addChoice(const QString &sentence)
{
    add(line(QStringLiteral("→ ") + sentence, "muted"));
}

void AgentPane::addMilestone(const QString &sentence)
{
    add(line(QStringLiteral("★ ") + sentence, "good"));
}

void AgentPane::addPrompt(const QString &text, const QString &target)
{
    auto *frame = new QFrame;
    setRole(frame, "mine");
    auto *column = new QVBoxLayout(frame);
    column->setContentsMargins(10, 6, 10, 8);
    column->setSpacing(2);
    column->addWidget(line(target.isEmpty() ? tr("You") : tr("You, from %1").arg(target), "muted"));
    column->addWidget(line(text, ""));
    auto *indent = new QWidget;
    auto *row = new QHBoxLayout(indent);
    row->setContentsMargins(36, 0, 0, 0);
    row->addWidget(frame);
    add(indent);
    atEnd_ = true;
    followEnd();
}

void AgentPane::followEnd()
{
    scroll_->verticalScrollBar()->setValue(scroll_->verticalScrollBar()->maximum());
}

void AgentPane::setActivity(Activity activity)
{
    activity_ = activity;
    const bool paused = activity == Activity::Paused;
    pause_->setVisible(activity != Activity::Idle);
    stop_->setVisible(activity != Activity::Idle);
    pause_->setAccessibleName(paused ? tr("Resume the search") : tr("Pause the search"));
    pause_->setToolTip(paused ? tr("Resume the search (F5)") : tr("Pause the search after this evaluation"));
    applyIcons();
}

void AgentPane::setBudget(const QString &text)
{
    budget_->setText(text);
}

void AgentPane::setPromptTarget(const QString &label)
{
    target_->setText(label.isEmpty() ? tr("Next proposal: the agent chooses where to go on")
                                     : tr("Next proposal goes on from %1").arg(label));
    clearTarget_->setVisible(!label.isEmpty());
}

void AgentPane::setPromptEnabled(bool enabled, const QString &placeholder)
{
    prompt_->setEnabled(enabled);
    send_->setEnabled(enabled);
    prompt_->setPlaceholderText(placeholder);
}

QString AgentPane::words() const
{
    return prompt_->toPlainText().trimmed();
}

void AgentPane::setPromptVisible(bool visible)
{
    show_->setVisible(visible);
}

void AgentPane::focusPrompt()
{
    prompt_->setFocus();
}

IterationCard *AgentPane::cardOf(CandidateId candidate) const
{
    const auto found = cards_.find(candidate);
    return found == cards_.end() ? nullptr : found->second;
}

} // namespace kernelwright::ui
