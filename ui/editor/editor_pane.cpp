// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor_pane.h"

#include "base/text.h"
#include "compare_window.h"
#include "cuda_editor.h"
#include "find_bar.h"
#include "ui/models/candidate_set.h"
#include "ui/models/display_text.h"
#include "ui/theme/empty_hint.h"

#include <QBoxLayout>
#include <QInputDialog>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QToolButton>

namespace kernelwright::ui
{

EditorPane::EditorPane(const ThemeController &themes, QWidget *parent)
    : QWidget(parent)
    , themes_(themes)
    , editor_(new CudaEditor(themes))
    , find_(new FindBar(editor_))
{
    hint_ = new EmptyHint(
        editor_, tr("The agent's code appears here while it is written.\nPress Optimise, or select a "
                    "candidate to read and edit it."));
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(makeHeader());
    column->addWidget(hint_, 1);
    column->addWidget(find_);
    connect(editor_, &CudaEditor::personEdited, this, &EditorPane::onPersonEdited);
    connect(&themes, &ThemeController::changed, this, &EditorPane::applyIcons);
    applyIcons();
    updateHeader();
}

QWidget *EditorPane::makeHeader()
{
    title_ = new QLabel;
    setRole(title_, "heading");
    detail_ = new QLabel;
    setRole(detail_, "muted");
    detail_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    notice_ = new QLabel;
    setRole(notice_, "warning");
    showStream_ = new QPushButton(tr("Show"));
    backToDraft_ = new QPushButton(tr("Back to my draft"));
    evaluate_ = new QPushButton(tr("Evaluate"));
    evaluate_->setToolTip(tr("Evaluate what is in the editor as a new candidate (Ctrl+Enter)"));
    accept_ = new QPushButton(tr("Accept"));
    accept_->setToolTip(tr("Accept this candidate into the model (Alt+Enter)"));
    revert_ = new QToolButton;
    revert_->setAccessibleName(tr("Drop my changes"));
    revert_->setToolTip(tr("Drop my changes and show the candidate again"));
    compare_ = new QToolButton;
    compare_->setAccessibleName(tr("Compare"));
    compare_->setToolTip(tr("Compare with another candidate"));
    compare_->setPopupMode(QToolButton::InstantPopup);
    auto *menu = new QMenu(compare_);
    menu->addAction(tr("Compare to parent"), this, &EditorPane::compareToParent);
    menu->addAction(tr("Compare to best"), this, &EditorPane::compareToBest);
    compare_->setMenu(menu);
    connect(evaluate_, &QPushButton::clicked, this, &EditorPane::evaluate);
    connect(accept_, &QPushButton::clicked, this, [this] { emit acceptRequested(shown()); });
    connect(revert_, &QToolButton::clicked, this, &EditorPane::revert);
    connect(backToDraft_, &QPushButton::clicked, this, &EditorPane::restoreDraft);
    connect(showStream_, &QPushButton::clicked, this, [this] {
        keepDraft();
        shown_.reset();
        editor_->setSource(streamed_);
        setState(State::Streaming);
        emit streamShown();
    });

    auto *header = new QWidget;
    setRole(header, "bar");
    header->setAttribute(Qt::WA_StyledBackground);
    auto *row = new QHBoxLayout(header);
    row->setContentsMargins(8, 4, 8, 4);
    row->setSpacing(8);
    row->addWidget(title_);
    row->addWidget(detail_, 1);
    for (QWidget *widget : std::initializer_list<QWidget *>{notice_, showStream_, backToDraft_, compare_,
                                                            revert_, evaluate_, accept_})
        row->addWidget(widget);
    return header;
}

void EditorPane::applyIcons()
{
    const Theme &theme = themes_.theme();
    compare_->setIcon(themedIcon(theme, QStringLiteral("compare")));
    revert_->setIcon(themedIcon(theme, QStringLiteral("revert")));
    accept_->setIcon(themedIcon(theme, QStringLiteral("accept")));
    evaluate_->setIcon(themedIcon(theme, QStringLiteral("evaluate")));
}

QString EditorPane::source() const
{
    return editor_->source();
}

void EditorPane::setState(State state)
{
    state_ = state;
    editor_->setReadOnly(state == State::Evaluating);
    hint_->setEmpty(state == State::Empty);
    updateHeader();
    emit stateChanged();
}

void EditorPane::updateHeader()
{
    const QString name = shown_ ? candidateTitle(*shown_) : tr("a new candidate");
    QString detail;
    switch (state_) {
    case State::Empty:
        title_->setText(tr("No candidate"));
        break;
    case State::Streaming:
        title_->setText(tr("%1 is being written").arg(streamTitle_));
        detail = tr("type to take it over");
        break;
    case State::Showing:
        title_->setText(name);
        detail = verdictText(*shown_);
        if (shown_->evaluation && shown_->evaluation->latency.medianUs > 0)
            detail += QStringLiteral(" · ") + latencyText(*shown_->evaluation);
        if (shown_->evaluation && shown_->evaluation->speedup > 0)
            detail += QStringLiteral(" · ") + fromText(formatSpeedup(shown_->evaluation->speedup));
        if (shown_->accepted) detail += tr(" · accepted");
        break;
    case State::Draft:
        title_->setText(shown_ ? tr("Draft from %1").arg(name) : tr("Draft"));
        detail = tr("Ctrl+Enter evaluates it");
        break;
    case State::Evaluating:
        title_->setText(tr("Draft from %1").arg(name));
        detail = tr("being evaluated …");
        break;
    }
    detail_->setText(detail);
    const bool hidden = streamRuns_ && state_ != State::Streaming;
    notice_->setText(tr("The agent is writing %1").arg(streamTitle_));
    notice_->setVisible(hidden);
    showStream_->setVisible(hidden);
    backToDraft_->setVisible(kept_.has_value() && state_ != State::Draft);
    evaluate_->setEnabled(state_ == State::Draft || state_ == State::Showing);
    accept_->setEnabled(state_ == State::Showing && isTimed(*shown_) && !shown_->accepted);
    revert_->setVisible(state_ == State::Draft && shown_.has_value());
    compare_->setEnabled(state_ == State::Draft || state_ == State::Showing);
    setRole(evaluate_, state_ == State::Draft ? "primary" : "");
}

void EditorPane::clear()
{
    shown_.reset();
    parent_.reset();
    best_.reset();
    kept_.reset();
    streamRuns_ = false;
    streamed_.clear();
    editor_->setSource({});
    setState(State::Empty);
}

void EditorPane::beginStream(const QString &title, bool show)
{
    streamTitle_ = title;
    streamed_.clear();
    streamRuns_ = true;
    if (state_ == State::Draft || state_ == State::Evaluating || (!show && state_ == State::Showing)) {
        updateHeader();
        return;
    }
    shown_.reset();
    editor_->setSource({});
    setState(State::Streaming);
}

void EditorPane::stream(const QString &text)
{
    streamed_ += text;
    if (state_ == State::Streaming) editor_->appendStreamed(text);
}

void EditorPane::endStream(const Candidate &candidate)
{
    streamRuns_ = false;
    if (state_ == State::Streaming) {
        shown_ = candidate;
        const QString final = fromText(candidate.source);
        if (editor_->source() != final) editor_->setSource(final);
        setState(State::Showing);
    } else {
        updateHeader();
    }
}

void EditorPane::abandonStream()
{
    streamRuns_ = false;
    if (state_ == State::Streaming) {
        editor_->setSource({});
        setState(State::Empty);
    } else {
        updateHeader();
    }
}

void EditorPane::showCandidate(const Candidate &candidate, const Candidate *parent, const Candidate *best)
{
    if (state_ == State::Draft && shown_ && shown_->id == candidate.id) {
        updateCandidate(candidate, parent, best);
        return;
    }
    keepDraft();
    shown_ = candidate;
    editor_->setSource(fromText(candidate.source));
    setState(State::Showing);
    updateCandidate(candidate, parent, best);
}

void EditorPane::updateCandidate(const Candidate &candidate, const Candidate *parent, const Candidate *best)
{
    if (!shown_ || shown_->id != candidate.id) return;
    shown_ = candidate;
    parent_ = parent ? std::optional(*parent) : std::nullopt;
    best_ = best ? std::optional(*best) : std::nullopt;
    if (state_ == State::Showing && candidate.evaluation)
        editor_->setDiagnostics(candidate.evaluation->compile.diagnostics);
    updateHeader();
}

void EditorPane::onPersonEdited()
{
    if (state_ == State::Showing || state_ == State::Streaming || state_ == State::Empty)
        setState(State::Draft);
}

void EditorPane::evaluate()
{
    if (state_ != State::Draft && state_ != State::Showing) return;
    const QString text = editor_->source();
    if (text.trimmed().isEmpty()) return;
    const CandidateId parent = shown();
    setState(State::Evaluating);
    emit evaluateRequested(parent, text);
}

void EditorPane::draftBecame(const Candidate &candidate)
{
    if (state_ != State::Evaluating) return;
    parent_ = shown_;
    shown_ = candidate;
    setState(State::Showing);
}

void EditorPane::draftFailed()
{
    if (state_ == State::Evaluating) setState(State::Draft);
}

void EditorPane::keepDraft()
{
    if (state_ == State::Draft) kept_ = KeptDraft{shown_, editor_->source()};
}

void EditorPane::restoreDraft()
{
    if (!kept_) return;
    shown_ = kept_->parent;
    editor_->setSource(kept_->source);
    kept_.reset();
    setState(State::Draft);
}

void EditorPane::revert()
{
    if (!shown_) return;
    // Set as an edit, so that undo brings the draft back.
    editor_->beginUndoAction();
    editor_->selectAll();
    editor_->replaceSelectedText(fromText(shown_->source));
    editor_->endUndoAction();
    setState(State::Showing);
}

void EditorPane::find(bool replace)
{
    find_->open(replace);
}

void EditorPane::askForLine()
{
    auto *dialog = new QInputDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(tr("Go to line"));
    dialog->setLabelText(tr("Line (1 – %1)").arg(editor_->lines()));
    dialog->setInputMode(QInputDialog::IntInput);
    dialog->setIntRange(1, editor_->lines());
    connect(dialog, &QInputDialog::intValueSelected, editor_, &CudaEditor::goToLine);
    dialog->open();
}

void EditorPane::compareToParent()
{
    compareTo(state_ == State::Draft ? shown_ : parent_, tr("parent"));
}

void EditorPane::compareToBest()
{
    compareTo(best_, tr("best"));
}

void EditorPane::compareTo(const std::optional<Candidate> &other, const QString &what)
{
    if (!other) {
        notice_->setText(tr("There is no %1 to compare to").arg(what));
        notice_->setVisible(true);
        return;
    }
    const QString mine = state_ == State::Draft ? tr("the draft") : candidateTitle(*shown_);
    auto *window = new CompareWindow(themes_, {candidateTitle(*other), fromText(other->source)},
                                     {mine, editor_->source()}, this);
    window->show();
}

} // namespace kernelwright::ui
