// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "kernel/candidate.h"
#include "ui/theme/theme.h"

#include <QWidget>

#include <map>

class QLabel;
class QPushButton;
class QScrollArea;
class QToolButton;
class QVBoxLayout;

namespace kernelwright::ui
{

class EmptyHint;
class IterationCard;
class PromptBox;

/// The conversation with the agent, and the box to speak to it, which works while a search runs.
class AgentPane : public QWidget
{
    Q_OBJECT
public:
    enum class Activity { Idle, Running, Paused };

    explicit AgentPane(const ThemeController &themes, QWidget *parent = nullptr);

    void clear();
    void beginTask(const QString &title);
    void beginIteration(const QString &title, const QString &origin);
    void appendReasoning(const QString &text);
    /// Fills the card it belongs to; makes one, with `origin` ("from #3") in its header, where there is none.
    void putCandidate(const Candidate &candidate, const QString &origin = {});
    void endIteration(const QString &failure); ///< the card that still waits for a candidate will get none
    void addChoice(const QString &sentence);
    void addPrompt(const QString &text, const QString &target);
    void addMilestone(const QString &sentence); ///< something to be glad about: the first faster candidate …
    void setActivity(Activity activity);
    void setBudget(const QString &text);
    /// What a prompt would go on from: "#3"; "" for wherever the agent likes.
    void setPromptTarget(const QString &label);
    void setPromptEnabled(bool enabled, const QString &placeholder);
    void focusPrompt();
    QString words() const;               ///< what is typed and not sent
    void setPromptVisible(bool visible); ///< "Show prompt" is for agents that send one

    PromptBox *prompt() { return prompt_; }
    IterationCard *cardOf(CandidateId candidate) const;
    int cardCount() const { return cardCount_; }

signals:
    void promptSubmitted(const QString &text);
    void promptTargetCleared();
    void promptShowRequested();
    void agentChoiceRequested();
    void pauseRequested();
    void resumeRequested();
    void stopRequested();
    void candidateActivated(kernelwright::CandidateId candidate);

private:
    QWidget *makeComposer();
    void add(QWidget *widget);
    IterationCard *addCard(const QString &title, const QString &origin);
    void followEnd();
    void applyIcons();

    const ThemeController &themes_;
    QScrollArea *scroll_;
    QVBoxLayout *column_;
    EmptyHint *hint_;
    PromptBox *prompt_;
    QLabel *budget_, *target_;
    QToolButton *clearTarget_;
    QPushButton *send_;
    QToolButton *show_, *choose_;
    QToolButton *pause_, *stop_;
    Activity activity_ = Activity::Idle;
    std::map<CandidateId, IterationCard *> cards_;
    IterationCard *open_ = nullptr; ///< the proposal that is being written
    int cardCount_ = 0;
    bool atEnd_ = true;
};

} // namespace kernelwright::ui
