// SPDX-License-Identifier: GPL-3.0-or-later
// A person's words become changes of the schedule, or an honest answer.
#include "agent/playbook/words.h"
#include "made_up.h"
#include "sample_tasks.h"

#include <QtTest>

using namespace kernelwright;
using namespace kernelwright::playbook;

class WordsTest : public QObject
{
    Q_OBJECT

private slots:
    void changesTheSchedule_data();
    void changesTheSchedule();
    void saysWhatItCannot_data();
    void saysWhatItCannot();
    void namesWordsItDoesNotKnow();
    void elementsHaveNoRows();
};

namespace
{

struct Setting
{
    AgentRequest request;
    Composition composition;
    Situation situation;

    explicit Setting(const char *task)
        : request(made_up::request(sampleTask(task), 1))
        , composition(*compose(request.task))
    {
        Schedule s;
        s.lanes = 128;
        s.rows = 2;
        s.vector = 1;
        situation = describeSituation(composition, request, legalised(s, composition, request.device.limits),
                                      nullptr);
    }
};

} // namespace

void WordsTest::changesTheSchedule_data()
{
    QTest::addColumn<QString>("words");
    QTest::addColumn<QString>("schedule"); // what must stand in the schedule line afterwards
    QTest::newRow("more rows") << "more rows per block"
                               << "rows=4";
    QTest::newRow("fewer rows") << "Fewer rows per block, please"
                                << "rows=1";
    QTest::newRow("so many rows") << "use 8 rows per block"
                                  << "rows=8";
    QTest::newRow("fewer threads") << "fewer threads"
                                   << "lanes=64";
    QTest::newRow("threads per row") << "64 threads per row"
                                     << "lanes=64";
    QTest::newRow("block size") << "block size 512"
                                << "lanes=256 rows=2";
    QTest::newRow("vectorise") << "vectorise"
                               << "vector=4";
    QTest::newRow("vectorize") << "Vectorize the loads!"
                               << "vector=4";
    QTest::newRow("float2") << "use float2"
                            << "vector=2";
    QTest::newRow("bytes") << "8-byte accesses"
                           << "vector=2";
    QTest::newRow("registers") << "keep the row in registers"
                               << "keep=registers";
    QTest::newRow("shared") << "use shared memory"
                            << "keep=shared";
    QTest::newRow("streaming") << "streaming loads"
                               << "loads=streaming";
    QTest::newRow("narrow") << "32-bit indices"
                            << "index=32";
    QTest::newRow("persistent") << "persistent blocks, 4 per SM"
                                << "blocks_per_sm=4";
    QTest::newRow("bounds") << "launch bounds 3"
                            << "minimum_blocks=3";
    QTest::newRow("two things") << "8 rows per block and vectorise"
                                << "rows=8 vector=4";
}

void WordsTest::changesTheSchedule()
{
    QFETCH(QString, words);
    QFETCH(QString, schedule);
    const Setting setting("layer norm softmax");
    const Request request = understand(words.toStdString(), setting.situation);
    QVERIFY(request.changes());
    const std::string text =
        scheduleText(legalised(request.schedule, setting.composition, setting.request.device.limits)) + " ";
    QVERIFY2(text.find(" " + schedule.toStdString() + " ") != std::string::npos, text.c_str());
}

void WordsTest::saysWhatItCannot_data()
{
    QTest::addColumn<QString>("words");
    QTest::addColumn<QString>("answer");
    QTest::newRow("cp.async") << "use cp.async"
                              << "no tactic for cp.async";
    QTest::newRow("tensor cores") << "use tensor cores"
                                  << "no tactic for tensor cores";
    QTest::newRow("fast math") << "fast math"
                               << "does not allow reduced precision";
    QTest::newRow("too wide") << "vector width 8"
                              << "16 bytes at most";
    QTest::newRow("odd number") << "use 3 rows per block"
                                << "nearest power of two";
}

void WordsTest::saysWhatItCannot()
{
    QFETCH(QString, words);
    QFETCH(QString, answer);
    const Setting setting("layer norm softmax");
    const Request request = understand(words.toStdString(), setting.situation);
    QVERIFY(!request.impossible.empty());
    QVERIFY2(request.impossible.front().find(answer.toStdString()) != std::string::npos,
             request.impossible.front().c_str());
}

void WordsTest::namesWordsItDoesNotKnow()
{
    const Setting setting("layer norm softmax");
    const Request request = understand("make it purple with more rows", setting.situation);
    QCOMPARE(request.unknown, std::vector<std::string>{"purple"});
    QCOMPARE(request.schedule.rows, 4);
    QVERIFY(understand("", setting.situation).understood.empty());
    QVERIFY(understand("%$§ 99999999999999999999", setting.situation).understood.empty());
}

void WordsTest::elementsHaveNoRows()
{
    const Setting setting("relu");
    const Request request = understand("more rows per block", setting.situation);
    QVERIFY(!request.changes());
    QVERIFY(request.impossible.front().find("no rows") != std::string::npos);
}

QTEST_APPLESS_MAIN(WordsTest)
#include "test_words.moc"
