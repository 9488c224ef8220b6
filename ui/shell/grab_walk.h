// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "backend.h"

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

#include <functional>
#include <vector>

namespace kernelwright::ui
{

class MainWindow;
class Workbench;

/// Walks the first minute by itself, with the keys and buttons a person would use, and writes a numbered
/// picture of the window at each step. Every step waits for what it is about to be told by the backend, up to
/// a limit.
class GrabWalk : public QObject
{
    Q_OBJECT
public:
    struct Options
    {
        QString folder; ///< made when needed
        QString model;
        int stepLimitMs = 240000;
    };
    GrabWalk(MainWindow &window, Workbench &workbench, Backend &backend, Options options,
             QObject *parent = nullptr);

    void start();

signals:
    /// `sentence` is empty when every step came about.
    void finished(const QString &sentence);

private:
    struct Step
    {
        QString name;                ///< of the picture: "graph"
        QString expectation;         ///< "the graph is drawn": what is said when it does not come about
        std::function<void()> begin; ///< may be empty
        std::function<bool()> isDone;
    };
    void planOpening();
    void planSearch();
    void planPerson();
    void planEnd();
    void watchBackend();
    void beginStep();
    void check();
    void giveUp(const QString &sentence);
    void grab();
    void end(const QString &sentence);

    MainWindow &window_;
    Workbench &workbench_;
    Backend &backend_;
    Options options_;
    std::vector<Step> steps_;
    std::size_t at_ = 0;
    bool begun_ = false;
    bool checking_ = false;
    bool ended_ = false;
    QTimer limit_;

    // What has happened so far.
    bool drawn_ = false, profiled_ = false, searchEnded_ = false;
    qsizetype reasoningLength_ = 0, sourceLength_ = 0;
    int stages_ = 0;
    CandidateId faster_ = noCandidate, prompted_ = noCandidate, edited_ = noCandidate;
    bool measured_ = false;
    QString failure_;
};

} // namespace kernelwright::ui
