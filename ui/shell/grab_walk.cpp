// SPDX-License-Identifier: GPL-3.0-or-later
#include "grab_walk.h"

#include "main_window.h"
#include "ui/agent/agent_pane.h"
#include "ui/agent/prompt_box.h"
#include "ui/editor/cuda_editor.h"
#include "ui/editor/editor_pane.h"
#include "ui/graph/graph_pane.h"
#include "ui/theme/theme.h"
#include "workbench.h"

#include <QApplication>
#include <QDir>
#include <QFileInfo>
#include <QKeyEvent>
#include <QToolButton>

namespace kernelwright::ui
{

namespace
{

constexpr const char *promptWords = "more rows per block";

void press(QWidget *target, int key, Qt::KeyboardModifiers modifiers = Qt::NoModifier,
           const QString &text = {})
{
    QApplication::postEvent(target, new QKeyEvent(QEvent::KeyPress, key, modifiers, text));
    QApplication::postEvent(target, new QKeyEvent(QEvent::KeyRelease, key, modifiers, text));
}

} // namespace

GrabWalk::GrabWalk(MainWindow &window, Workbench &workbench, Backend &backend, Options options,
                   QObject *parent)
    : QObject(parent)
    , window_(window)
    , workbench_(workbench)
    , backend_(backend)
    , options_(std::move(options))
{
    limit_.setSingleShot(true);
    connect(&limit_, &QTimer::timeout, this, [this] {
        giveUp(tr("Within %1 s it did not come about that %2.")
                   .arg(options_.stepLimitMs / 1000)
                   .arg(steps_[at_].expectation));
    });
    planOpening();
    planSearch();
    planPerson();
    planEnd();
    watchBackend();
}

void GrabWalk::planOpening()
{
    steps_.push_back({QStringLiteral("welcome"), tr("the welcome page is shown"), {}, [this] {
                          return window_.isShowingWelcome();
                      }});
    steps_.push_back({QStringLiteral("graph"), tr("the model is open, drawn and timed"),
                      [this] { workbench_.openFile(options_.model); },
                      [this] { return drawn_ && profiled_ && backend_.job() == Job::None; }});
}

void GrabWalk::planSearch()
{
    steps_.push_back({QStringLiteral("reasoning"), tr("the agent explains what it will try"),
                      [this] { window_.findChild<QToolButton *>(QStringLiteral("search.run"))->click(); },
                      [this] { return reasoningLength_ > 120 || sourceLength_ > 0; }});
    steps_.push_back({QStringLiteral("code"), tr("code streams into the editor"), {}, [this] {
                          return sourceLength_ > 600 || stages_ > 0;
                      }});
    steps_.push_back(
        {QStringLiteral("stages"), tr("stages of an evaluation pass"), {}, [this] { return stages_ >= 3; }});
    steps_.push_back({QStringLiteral("faster"), tr("a faster candidate is found"), {}, [this] {
                          return faster_ != noCandidate;
                      }});
}

void GrabWalk::planPerson()
{
    steps_.push_back({QStringLiteral("re-prompt"), tr("a candidate is made from a prompt"),
                      [this] {
                          PromptBox *prompt = window_.agent->prompt();
                          prompt->setFocus();
                          prompt->setPlainText(QString::fromLatin1(promptWords));
                          press(prompt, Qt::Key_Return);
                      },
                      [this] { return prompted_ != noCandidate; }});
    steps_.push_back({QStringLiteral("whole-model"),
                      tr("the accepted candidate is measured in the whole model"),
                      [this] {
                          workbench_.select(faster_, true);
                          window_.actions().find(QStringLiteral("search.accept"))->trigger();
                      },
                      [this] { return measured_; }});
    steps_.push_back({QStringLiteral("hand-edit"),
                      tr("an edit by hand is evaluated as a candidate of its own"),
                      [this] {
                          workbench_.select(faster_, true);
                          CudaEditor *editor = window_.editor->editor();
                          editor->setFocus();
                          editor->setCursorPosition(editor->lines() - 1, 0);
                          editor->insert(QStringLiteral("// The same kernel, edited by hand.\n"));
                          window_.actions().find(QStringLiteral("editor.evaluate"))->trigger();
                      },
                      [this] { return edited_ != noCandidate; }});
}

void GrabWalk::planEnd()
{
    steps_.push_back({QStringLiteral("stopped"), tr("the search ends when it is stopped"),
                      [this] { backend_.stop(); }, [this] { return backend_.job() == Job::None; }});
    steps_.push_back({QStringLiteral("metrics"), tr("the metrics of the fastest candidate are shown"),
                      [this] {
                          const Candidate *chosen = workbench_.candidates().find(faster_);
                          const Candidate *best =
                              chosen ? workbench_.candidates().best(chosen->taskId) : nullptr;
                          workbench_.select(best ? best->id : faster_, true);
                          window_.raisePane(QStringLiteral("metrics"));
                      },
                      [] { return true; }});
    steps_.push_back({QStringLiteral("other-theme"), tr("the other theme is in force"),
                      [this] {
                          ThemeController &themes = window_.themes();
                          themes.setChoice(themes.theme().isDark ? ThemeChoice::Light : ThemeChoice::Dark);
                          window_.raisePane(QStringLiteral("result"));
                      },
                      [] { return true; }});
}

void GrabWalk::watchBackend()
{
    const Backend *b = &backend_;
    const auto then = [this](auto change) {
        return [this, change](const auto &...values) {
            change(values...);
            // After the workbench has heard of it, too.
            QMetaObject::invokeMethod(this, &GrabWalk::check, Qt::QueuedConnection);
        };
    };
    connect(window_.graph, &GraphPane::drawn, this, then([this] { drawn_ = true; }));
    connect(b, &Backend::jobChanged, this, then([] {}));
    connect(b, &Backend::profiled, this, then([this](const ModelProfile &) { profiled_ = true; }));
    connect(b, &Backend::reasoned, this,
            then([this](const QString &text) { reasoningLength_ += text.size(); }));
    connect(b, &Backend::wrote, this, then([this](const QString &text) { sourceLength_ += text.size(); }));
    connect(b, &Backend::stageReached, this, then([this](CandidateId, const StageResult &) { ++stages_; }));
    connect(b, &Backend::candidateEvaluated, this, then([this](const Candidate &candidate) {
                if (candidate.author == "person") edited_ = candidate.id;
                if (!candidate.instruction.empty()) prompted_ = candidate.id;
                if (faster_ == noCandidate && candidate.evaluation &&
                    candidate.evaluation->verdict == Verdict::Faster)
                    faster_ = candidate.id;
            }));
    connect(b, &Backend::wholeModelMeasured, this,
            then([this](const WholeModelReport &) { measured_ = true; }));
    connect(b, &Backend::failed, this, [this](Job during, const Error &error) {
        failure_ = QString::fromStdString(error.message);
        if (during == Job::Opening) giveUp(tr("It did not come about that %1.").arg(steps_[at_].expectation));
    });
}

void GrabWalk::giveUp(const QString &sentence)
{
    if (ended_) return;
    checking_ = true; // nothing comes about any more
    grab();           // shows how far it came
    end(failure_.isEmpty() ? sentence : tr("%1 The last error was: %2").arg(sentence, failure_));
}

void GrabWalk::start()
{
    if (!QFileInfo(options_.model).isFile()) {
        end(tr("There is no file “%1”.").arg(options_.model));
        return;
    }
    if (!QDir().mkpath(options_.folder)) {
        end(tr("The folder “%1” cannot be made: check that it may be written to.").arg(options_.folder));
        return;
    }
    beginStep();
}

void GrabWalk::beginStep()
{
    limit_.start(options_.stepLimitMs);
    if (steps_[at_].begin) steps_[at_].begin();
    begun_ = true;
    QMetaObject::invokeMethod(this, &GrabWalk::check, Qt::QueuedConnection);
}

void GrabWalk::check()
{
    if (ended_ || checking_ || !begun_ || !steps_[at_].isDone()) return;
    checking_ = true;
    grab();
    checking_ = false;
    if (ended_) return;
    begun_ = false;
    if (++at_ == steps_.size()) {
        end({});
        return;
    }
    // The event loop gets its turn between two steps, as it does between two deeds of a person.
    QMetaObject::invokeMethod(this, &GrabWalk::beginStep, Qt::QueuedConnection);
}

void GrabWalk::grab()
{
    const QString path = QStringLiteral("%1/%2-%3.png")
                             .arg(options_.folder)
                             .arg(static_cast<int>(at_) + 1, 2, 10, QLatin1Char('0'))
                             .arg(steps_[at_].name);
    QApplication::sendPostedEvents(nullptr, QEvent::LayoutRequest);
    if (!window_.grab().save(path, "PNG"))
        end(tr("The picture “%1” cannot be written: check that the folder may be written to.").arg(path));
}

void GrabWalk::end(const QString &sentence)
{
    if (std::exchange(ended_, true)) return;
    limit_.stop();
    emit finished(sentence);
}

} // namespace kernelwright::ui
