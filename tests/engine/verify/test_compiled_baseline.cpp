// SPDX-License-Identifier: GPL-3.0-or-later
// torch.compile's baseline, with a shell script in the place of Python: whatever the child does, the answer
// is a time or a sentence.
#include "base/child_process.h"
#include "base/resources.h"
#include "engine/reference/executor.h"
#include "engine/verify/compiled_baseline.h"
#include "sample_tasks.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <fstream>

using namespace kernelwright;

namespace
{
/// Finds the file to answer into, as the script's options name it.
constexpr const char *findAnswer = "#!/bin/sh\necho called >> \"$CALLS\"\n"
                                   "while [ $# -gt 0 ]; do [ \"$1\" = --answer ] && answer=$2; shift; done\n";
constexpr const char *goodAnswer =
    "echo '{\"ok\": true, \"torch\": \"2.11\", \"source\": \"kernels\", \"samples_us\": "
    "[5,5,5,5,5,5,5,5,5,5.5], \"eager_us\": [9,9,9,9,9,9,9,9,9,9], \"compile_seconds\": 3, "
    "\"max_difference\": 0.001}' > \"$answer\"\n";
} // namespace

class TestCompiledBaseline : public QObject
{
    Q_OBJECT

private slots:
    void init()
    {
        folder_ = std::make_unique<QTemporaryDir>();
        qputenv("XDG_CACHE_HOME", folder_->path().toUtf8());
        qputenv("CALLS", folder_->filePath("calls").toUtf8());
        qputenv("KERNELWRIGHT_RESOURCES", qgetenv("KERNELWRIGHT_SOURCE") + "/resources");
        for (const char *variable : {"KERNELWRIGHT_PYTHON", "VIRTUAL_ENV", "CONDA_PREFIX"})
            qunsetenv(variable);
        device_.id = "cuda:0";
        device_.name = "a GPU";
        device_.driver = "580";
    }

    void aMeasuredTimeIsKeptForTheNextEngine()
    {
        usePython(goodAnswer);
        const auto first = CompiledBaseline().timesOf(request());
        QVERIFY2(first.has_value(), first ? "" : first.error().message.c_str());
        QCOMPARE(first->samplesUs.size(), std::size_t{10});
        QCOMPARE(first->torch, std::string("2.11"));
        const auto second = CompiledBaseline().timesOf(request());
        QVERIFY(second.has_value());
        QCOMPARE(second->samplesUs, first->samplesUs);
        QCOMPARE(calls(), 1);
    }

    void anotherDriverOrWarmCachesAreAnotherMeasurement()
    {
        usePython(goodAnswer);
        CompiledBaseline baseline;
        QVERIFY(baseline.timesOf(request()));
        device_.driver = "590";
        QVERIFY(baseline.timesOf(request()));
        auto warm = request();
        warm.warmCache = true;
        QVERIFY(baseline.timesOf(warm));
        QCOMPARE(calls(), 3);
    }

    void aDamagedCacheIsMeasuredAnew()
    {
        usePython(goodAnswer);
        QVERIFY(CompiledBaseline().timesOf(request()));
        QDir cache(folder_->filePath("kernelwright/compiled-baselines"));
        const QStringList files = cache.entryList({"*.json"});
        QCOMPARE(files.size(), 1);
        for (const char *damage : {"", "{\"key\": ", "[]", "{\"key\": 5, \"value\": {}}"}) {
            std::ofstream(cache.filePath(files.front()).toStdString()) << damage;
            QVERIFY2(CompiledBaseline().timesOf(request()), damage);
        }
        QCOMPARE(calls(), 5);
    }

    void everyFailureIsOneSentence_data()
    {
        QTest::addColumn<QByteArray>("script");
        QTest::addColumn<QByteArray>("expected");
        QTest::newRow("no torch")
            << QByteArray("echo '{\"ok\": false, \"reason\": \"no torch here\"}' > \"$answer\"\n")
            << QByteArray("no torch here");
        QTest::newRow("crash") << QByteArray("echo 'Fatal: out of tea' >&2; kill -SEGV $$\n")
                               << QByteArray("signal 11: Fatal: out of tea");
        QTest::newRow("status") << QByteArray("echo oops; exit 3\n") << QByteArray("status 3: oops");
        QTest::newRow("no answer") << QByteArray("exit 0\n") << QByteArray("cannot be read");
        QTest::newRow("half an answer")
            << QByteArray("echo '{\"ok\": true, \"torch' > \"$answer\"\n") << QByteArray("answer.json");
        QTest::newRow("another answer")
            << QByteArray("echo '[1, 2]' > \"$answer\"\n") << QByteArray("not what it should");
        QTest::newRow("times that are none")
            << QByteArray(
                   "echo '{\"ok\": true, \"torch\": \"2\", \"source\": \"x\", \"samples_us\": "
                   "[0,1,1,1,1,1,1,1,1,1], "
                   "\"eager_us\": [1,1,1,1,1,1,1,1,1,1], \"compile_seconds\": 1, \"max_difference\": 0}' > "
                   "\"$answer\"\n")
            << QByteArray("samples_us holds no usable times");
    }

    void everyFailureIsOneSentence()
    {
        QFETCH(QByteArray, script);
        QFETCH(QByteArray, expected);
        usePython(script.constData());
        CompiledBaseline baseline;
        const auto times = baseline.timesOf(request());
        QVERIFY(!times);
        QVERIFY2(times.error().message.find(expected.toStdString()) != std::string::npos,
                 times.error().message.c_str());
        QVERIFY(times.error().message.find('\n') == std::string::npos);
        QVERIFY(!baseline.timesOf(request())); // and is not tried again for the next candidate
        QCOMPARE(calls(), 1);
    }

    void withoutPythonTheRemedyIsNamed()
    {
        const auto times = CompiledBaseline().timesOf(request());
        QVERIFY(!times);
        QVERIFY(times.error().message.find("KERNELWRIGHT_PYTHON") != std::string::npos);
    }

    void anActiveEnvironmentIsUsedOnRequestOnly()
    {
        usePython(goodAnswer);
        QVERIFY(QDir(folder_->path()).mkpath("environment/bin"));
        QVERIFY(QFile::rename(folder_->filePath("python"), folder_->filePath("environment/bin/python3")));
        qunsetenv("KERNELWRIGHT_PYTHON");
        qputenv("VIRTUAL_ENV", folder_->filePath("environment").toUtf8());
        auto unasked = request();
        unasked.mayMeasure = false;
        CompiledBaseline baseline;
        QVERIFY(!baseline.timesOf(unasked));
        QCOMPARE(calls(), 0);
        QVERIFY(baseline.timesOf(request()));
        QVERIFY(baseline.timesOf(unasked)); // known by now
        QCOMPARE(calls(), 1);
    }

    void cancellingEndsTheChildAndIsNotRemembered()
    {
        usePython("sleep 1000\n");
        CompiledBaseline baseline;
        auto cancelled = request();
        cancelled.cancel.cancel();
        const auto times = baseline.timesOf(cancelled);
        QVERIFY(!times);
        QCOMPARE(times.error().code, ErrorCode::Cancelled);
        usePython(goodAnswer);
        QVERIFY(baseline.timesOf(request()));
    }

    void theScriptCallsTheSameOperators()
    {
        const std::filesystem::path output = folder_->filePath("output").toStdString();
        const auto probe = runChild({{"python3", "-c", "import torch"}, output, std::chrono::minutes(2), {}});
        if (!probe || probe->status != 0) QSKIP("python3 has no torch here");
        const std::string task = folder_->filePath("a.task").toStdString(),
                          answer = folder_->filePath("answer.json").toStdString();
        QVERIFY(writeTaskFile(task_, task));
        const auto end =
            runChild({{"python3", (resourceDirectory() / "baselines/compile_baseline.py").string(), task,
                       "--device", "cpu", "--answer", answer, "--check"},
                      output,
                      std::chrono::minutes(2),
                      {}});
        QVERIFY(end && end->status == 0);
        std::ifstream stream(answer);
        const auto json = parseJson(std::string(std::istreambuf_iterator<char>(stream), {}), "the answer");
        QVERIFY2(json && json->value("ok", false), lastLines(answer).c_str());
        QCOMPARE(json->at("outputs").size(), task_.task.outputs.size());
        QCOMPARE(json->at("outputs")[0].at("shape").get<std::vector<std::int64_t>>(),
                 task_.task.outputs[0].type.sizes);
        // The rows of a softmax sum to 1 each.
        const double rows = static_cast<double>(task_.task.outputs[0].type.sizes[0]);
        QVERIFY(std::abs(json->at("outputs")[0].at("sum").get<double>() - rows) < 0.01 * rows);
    }

private:
    void usePython(const char *script)
    {
        const QString path = folder_->filePath("python");
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(findAnswer);
        file.write(script);
        file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        file.close();
        qputenv("KERNELWRIGHT_PYTHON", path.toUtf8());
    }
    CompiledBaseline::Request request() { return {task_, device_, false, true, {}, {}}; }
    int calls() const
    {
        QFile file(folder_->filePath("calls"));
        return file.open(QIODevice::ReadOnly) ? static_cast<int>(file.readAll().count('\n')) : 0;
    }

    std::unique_ptr<QTemporaryDir> folder_;
    DeviceInfo device_;
    Task softmax_ = samples::softmaxTask(8, 16);
    PreparedTask task_{softmax_, {}, samples::capturedInputs(softmax_)};
};

QTEST_APPLESS_MAIN(TestCompiledBaseline)
#include "test_compiled_baseline.moc"
