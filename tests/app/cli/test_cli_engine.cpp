// SPDX-License-Identifier: GPL-3.0-or-later
// The program over the real engine, the simulator and the bundled samples.
#include "cli_fixture.h"

#include <QDir>
#include <QFile>
#include <QTest>

using namespace kernelwright;
using namespace kernelwright::test;

class TestCliEngine : public QObject
{
    Q_OBJECT

private slots:
    void init();

    void theSimulatorIsAmongTheDevices();
    void everySampleRunsAsItWasExported_data();
    void everySampleRunsAsItWasExported();
    void badModelFilesAreRefused_data();
    void badModelFilesAreRefused();

private:
    QString samples() const { return qEnvironmentVariable("KERNELWRIGHT_SOURCE") + "/resources/samples"; }
    std::unique_ptr<CliFixture> cli_;
    Json json_;
};

void TestCliEngine::init()
{
    cli_ = std::make_unique<CliFixture>();
    cli_->usesRealEngine = true;
}

void TestCliEngine::theSimulatorIsAmongTheDevices()
{
    const CliAnswer answer = cli_->runForJson({"devices"}, json_);
    QVERIFY2(answer.status == 0, answer.err.constData());
    bool found = false;
    for (const Json &device : json_.at("devices"))
        found |= device.at("id").get<std::string>().starts_with("simt");
    QVERIFY(found);
}

void TestCliEngine::everySampleRunsAsItWasExported_data()
{
    QTest::addColumn<QString>("model");
    QTest::addColumn<QString>("example");
    const QDir folder(samples());
    const QStringList models = folder.entryList({"*.pt2"}, QDir::Files);
    if (models.isEmpty()) QTest::newRow("none") << QString() << QString();
    for (const QString &model : models) {
        const QString example = folder.filePath(QString(model).replace(".pt2", ".io.pt"));
        QTest::newRow(qPrintable(model)) << folder.filePath(model) << example;
    }
}

void TestCliEngine::everySampleRunsAsItWasExported()
{
    QFETCH(QString, model);
    QFETCH(QString, example);
    if (!QFile::exists(example)) QSKIP("skipped: there is no sample with an expected output");
    const CliAnswer answer = cli_->runForJson({"run", model, "--io", example}, json_);
    QVERIFY2(answer.status == 0, answer.err.constData());
    QVERIFY(json_.at("max_abs_error").get<double>() <= 1e-4);
}

void TestCliEngine::badModelFilesAreRefused_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::newRow("empty") << QByteArray();
    QTest::newRow("text") << QByteArray("hello\n");
    QTest::newRow("zip's first bytes") << QByteArray("PK\x03\x04");
    QTest::newRow("rubbish") << QByteArray(5000, '\xa5');
}

void TestCliEngine::badModelFilesAreRefused()
{
    QFETCH(QByteArray, bytes);
    for (const char *name : {"model.pt2", "model.pt"}) {
        cli_->write(name, bytes);
        for (const char *command : {"import", "run", "optimize"}) {
            const CliAnswer answer = cli_->run({command, name});
            QVERIFY2(answer.status == 2, answer.err.constData());
            QVERIFY2(answer.err.contains(name), answer.err.constData());
            QVERIFY(answer.err.count('\n') < 12);
            QCOMPARE(cli_->filesWritten(), QStringList());
        }
    }
}

QTEST_GUILESS_MAIN(TestCliEngine)
#include "test_cli_engine.moc"
