// SPDX-License-Identifier: GPL-3.0-or-later
// Every sample task under many schedules: the source's plan is read and resolved, and NVRTC compiles it.
#include "agent/playbook/kernel_source.h"
#include "engine/compile/compiler.h"
#include "sample_tasks.h"

#include <QtTest>

#include <cstdio>
#include <cstdlib>

using namespace kernelwright;
using namespace kernelwright::playbook;

namespace
{

struct NamedSchedule
{
    const char *name;
    Schedule schedule;
};

std::vector<NamedSchedule> schedules()
{
    std::vector<NamedSchedule> list;
    const auto add = [&list](const char *name, auto change) {
        Schedule schedule;
        change(schedule);
        list.push_back({name, schedule});
    };
    add("simplest", [](Schedule &) {});
    add("narrow packs", [](Schedule &s) {
        s.vector = 4;
        s.wideIndex = false;
    });
    add("sixteen bytes, streaming, few blocks", [](Schedule &s) {
        s.vector = 8;
        s.streaming = true;
        s.blocksPerSm = 2;
        s.wideIndex = false;
    });
    add("warp per row", [](Schedule &s) {
        s.lanes = 32;
        s.rows = 8;
        s.wideIndex = false;
    });
    add("half a warp per row, packs", [](Schedule &s) {
        s.lanes = 16;
        s.rows = 8;
        s.vector = 2;
    });
    add("thread per row", [](Schedule &s) {
        s.lanes = 1;
        s.rows = 64;
        s.wideIndex = false;
    });
    add("registers", [](Schedule &s) {
        s.lanes = 128;
        s.keep = Keep::Registers;
        s.items = 2;
        s.vector = 4;
        s.simplified = true;
        s.reciprocal = true;
    });
    add("registers, scalar, rows", [](Schedule &s) {
        s.lanes = 32;
        s.rows = 4;
        s.keep = Keep::Registers;
        s.items = 4;
        s.wideIndex = false;
    });
    add("shared", [](Schedule &s) {
        s.lanes = 64;
        s.rows = 2;
        s.keep = Keep::Shared;
        s.vector = 4;
        s.minimumBlocks = 2;
    });
    return list;
}

} // namespace

class KernelSourceTest : public QObject
{
    Q_OBJECT

private slots:
    void compilesUnderEverySchedule_data();
    void compilesUnderEverySchedule();
    void saysWhyNot_data();
    void saysWhyNot();
};

void KernelSourceTest::compilesUnderEverySchedule_data()
{
    QTest::addColumn<QString>("task");
    QTest::addColumn<int>("schedule");
    const std::vector<NamedSchedule> list = schedules();
    for (const SampleTask &sample : sampleTasks())
        for (std::size_t i = 0; i < list.size() && !sample.isRefused; ++i)
            QTest::addRow("%s, %s", sample.name.c_str(), list[i].name)
                << QString::fromStdString(sample.name) << static_cast<int>(i);
}

void KernelSourceTest::compilesUnderEverySchedule()
{
    QFETCH(QString, task);
    QFETCH(int, schedule);
    const Result<Composition> composition = compose(sampleTask(task.toStdString()));
    QVERIFY2(composition, composition ? "" : composition.error().message.c_str());
    const Schedule wanted =
        legalised(schedules()[static_cast<std::size_t>(schedule)].schedule, *composition, LaunchLimits());
    const std::string source = writeSource(*composition, wanted);
    if (std::getenv("KERNELWRIGHT_PRINT_SOURCES")) std::printf("%s\n----------\n", source.c_str());

    const Result<LaunchPlan> plan = parseLaunchPlan(source);
    QVERIFY2(plan, plan ? "" : (plan.error().message + "\n" + source).c_str());
    QVERIFY(scheduleFromPlan(*plan) == wanted);
    const Result<ResolvedPlan> resolved =
        resolveLaunchPlan(*plan, composition->task, composition->task.cases.front(), LaunchLimits());
    QVERIFY2(resolved, resolved ? "" : (resolved.error().message + "\n" + source).c_str());

    CompileRequest request;
    request.source = source;
    request.architecture = "sm_90";
    request.macros = resolved->macros;
    const Result<CompileOutcome> outcome = compileCandidate(request);
    QVERIFY2(outcome, outcome ? "" : outcome.error().message.c_str());
    QVERIFY2(outcome->succeeded, (outcome->program.report.log + "\n" + source).c_str());
    for (const Diagnostic &diagnostic : outcome->program.report.diagnostics)
        QVERIFY2(diagnostic.severity != "warning", (diagnostic.message + "\n" + source).c_str());
    QVERIFY(outcome->program.report.spillBytes < 128); // calls of the math library save a few registers
}

void KernelSourceTest::saysWhyNot_data()
{
    QTest::addColumn<QString>("task");
    for (const SampleTask &sample : sampleTasks())
        if (sample.isRefused) QTest::addRow("%s", sample.name.c_str()) << QString::fromStdString(sample.name);
}

void KernelSourceTest::saysWhyNot()
{
    QFETCH(QString, task);
    const Result<Composition> composition = compose(sampleTask(task.toStdString()));
    QVERIFY(!composition);
    QCOMPARE(composition.error().code, ErrorCode::NotSupported);
    QVERIFY(composition.error().message.find("language-model agent") != std::string::npos);
}

QTEST_APPLESS_MAIN(KernelSourceTest)
#include "test_kernel_source.moc"
