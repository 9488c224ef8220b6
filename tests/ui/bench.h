// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "scripted_backend.h"
#include "ui/agent/agent_pane.h"
#include "ui/agent/iteration_card.h"
#include "ui/agent/prompt_box.h"
#include "ui/candidates/candidates_pane.h"
#include "ui/charts/charts_pane.h"
#include "ui/correctness/stages_pane.h"
#include "ui/editor/cuda_editor.h"
#include "ui/editor/editor_pane.h"
#include "ui/graph/graph_pane.h"
#include "ui/log/log_pane.h"
#include "ui/models/candidates_model.h"
#include "ui/operators/operators_pane.h"
#include "ui/result/result_pane.h"
#include "ui/shell/device_badge.h"
#include "ui/shell/main_window.h"
#include "ui/shell/message_bar.h"
#include "ui/shell/workbench.h"
#include "ui/theme/theme.h"

#include <QDockWidget>
#include <QDropEvent>
#include <QItemSelectionModel>
#include <QLabel>
#include <QMimeData>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QToolButton>
#include <QTreeView>
#include <QtTest>

namespace kernelwright::test
{

using namespace ui;

/// A window with a model open, as one has it after the first click.
struct Bench
{
    Bench()
    {
        window.resize(1600, 1000);
        window.show();
        QFile model(modelPath);
        if (!model.open(QIODevice::WriteOnly)) qFatal("no temporary model");
        model.write("PK");
    }

    void open()
    {
        QSignalSpy drawn(window.graph, &GraphPane::drawn);
        workbench.openFile(modelPath);
        QVERIFY(drawn.wait(20000));
        QTRY_COMPARE(backend.job(), Job::None);
    }

    void searchToTheEnd()
    {
        QSignalSpy finished(&backend, &Backend::searchFinished);
        button("search.run")->click();
        QVERIFY(finished.wait(20000));
        QTRY_COMPARE(backend.job(), Job::None);
    }

    QToolButton *button(const char *id) { return window.findChild<QToolButton *>(QString::fromLatin1(id)); }
    void key(QWidget *target, Qt::Key key, Qt::KeyboardModifiers modifiers)
    {
        window.activateWindow();
        target->setFocus();
        QTest::keyClick(target, key, modifiers);
    }

    QTemporaryDir folder;
    QString modelPath = folder.filePath(QStringLiteral("small.pt2"));
    QSettings settings{folder.filePath(QStringLiteral("settings.ini")), QSettings::IniFormat};
    ThemeController themes;
    MainWindow window{themes, settings};
    ScriptedBackend backend;
    Workbench workbench{window, backend};
};

} // namespace kernelwright::test
