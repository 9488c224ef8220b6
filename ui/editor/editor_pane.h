// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "kernel/candidate.h"
#include "ui/theme/theme.h"

#include <QWidget>

#include <optional>

class QLabel;
class QMenu;
class QPushButton;
class QToolButton;

namespace kernelwright::ui
{

class CudaEditor;
class EmptyHint;
class FindBar;

/// The source of one candidate. What streams in from the agent is shown as it comes; an evaluated candidate
/// becomes a draft as soon as the person types, and Ctrl+Enter evaluates the draft as a new candidate whose
/// parent is the one shown. A draft is never overwritten by the agent.
class EditorPane : public QWidget
{
    Q_OBJECT
public:
    enum class State { Empty, Streaming, Showing, Draft, Evaluating };

    explicit EditorPane(const ThemeController &themes, QWidget *parent = nullptr);

    void clear();
    /// The agent starts to write; `title` as "#4". Shown at once when `show` is set and no draft would be
    /// lost; else a button offers it.
    void beginStream(const QString &title, bool show = true);
    void stream(const QString &text);
    /// The agent has finished: what streamed is this candidate.
    void endStream(const Candidate &candidate);
    void abandonStream(); ///< the proposal ended without a candidate: half-written code is of no use

    /// Shows a candidate because the person chose it. A draft that is not evaluated yet is kept for returning
    /// to it.
    void showCandidate(const Candidate &candidate, const Candidate *parent, const Candidate *best);
    /// What is known of the shown candidate has changed (its evaluation came in, it was accepted …).
    void updateCandidate(const Candidate &candidate, const Candidate *parent, const Candidate *best);
    /// The draft that was sent to evaluation is this candidate now.
    void draftBecame(const Candidate &candidate);
    /// The draft could not be evaluated; it is a draft again.
    void draftFailed();

    State state() const { return state_; }
    CandidateId shown() const { return shown_ ? shown_->id : noCandidate; }
    CudaEditor *editor() { return editor_; }
    QString source() const;

    void evaluate(); ///< does what Ctrl+Enter does
    void find(bool replace);
    void askForLine();
    void compareToParent();
    void compareToBest();

signals:
    void evaluateRequested(kernelwright::CandidateId parent, const QString &source);
    void acceptRequested(kernelwright::CandidateId candidate);
    void stateChanged();
    void streamShown(); ///< the person asked to see what the agent writes

private:
    QWidget *makeHeader();
    void setState(State state);
    void updateHeader();
    void compareTo(const std::optional<Candidate> &other, const QString &what);
    void keepDraft();
    void restoreDraft();
    void revert();
    void onPersonEdited();
    void applyIcons();

    struct KeptDraft
    {
        std::optional<Candidate> parent;
        QString source;
    };

    const ThemeController &themes_;
    CudaEditor *editor_;
    FindBar *find_;
    EmptyHint *hint_;
    State state_ = State::Empty;
    std::optional<Candidate> shown_, parent_, best_;
    QString streamTitle_;
    QString streamed_; ///< what the agent has written of the present proposal, shown or not
    bool streamRuns_ = false;
    std::optional<KeptDraft> kept_;
    QLabel *title_, *detail_, *notice_;
    QPushButton *evaluate_, *accept_, *backToDraft_, *showStream_;
    QToolButton *compare_, *revert_;
};

} // namespace kernelwright::ui
