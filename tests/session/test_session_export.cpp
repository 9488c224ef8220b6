// SPDX-License-Identifier: GPL-3.0-or-later
// A session as one JSON document and as a table of results.
#include "base/text.h"
#include "session_fixtures.h"

#include <QTest>

using namespace kernelwright;
using namespace kernelwright::test;

class TestSessionExport : public QObject
{
    Q_OBJECT

private slots:
    void init();

    void theDocumentHoldsEverything();
    void anEmptySessionHasEmptyLists();
    void theTableHasItsColumns();
    void aRowHoldsTheNumbersOfItsCandidate();
    void whatIsUnknownIsEmpty();
    void tabsAndLineEndsCannotBreakARow();

private:
    std::vector<std::string> row(std::size_t index) const;
    std::unique_ptr<QTemporaryDir> folder_;
    std::unique_ptr<Session> session_;
};

void TestSessionExport::init()
{
    session_.reset();
    folder_ = std::make_unique<QTemporaryDir>();
    session_ = openOrDie(folder_->filePath("a.session"));
}

std::vector<std::string> TestSessionExport::row(std::size_t index) const
{
    return splitText(splitText(valueOf(exportSessionTsv(*session_)), '\n').at(index), '\t');
}

void TestSessionExport::theDocumentHoldsEverything()
{
    QVERIFY(session_->setModel({"/m.pt2", {}, "simt"}));
    QVERIFY(session_->putTask(smallTask("t")));
    QVERIFY(session_->addCandidate(candidateFor("t", "the source")));
    QVERIFY(session_->setEvaluation(1, fullEvaluation(Verdict::Faster, 4)));
    QVERIFY(session_->addEvent({.kind = "prompt", .text = "more rows"}));
    QVERIFY(session_->setWholeModelReport({}));
    const Json json = valueOf(exportSessionJson(*session_));
    QCOMPARE(json.at("model").at("path").get<std::string>(), std::string("/m.pt2"));
    QCOMPARE(json.at("tasks").at(0).at("id").get<std::string>(), std::string("t"));
    const Json &candidate = json.at("candidates").at(0);
    QCOMPARE(candidate.at("source").get<std::string>(), std::string("the source"));
    QCOMPARE(candidate.at("evaluation").at("verdict").get<std::string>(), std::string("faster"));
    QVERIFY(candidate.at("evaluation").at("compile").at("ptx").get<std::string>().size() > 5000);
    QCOMPARE(json.at("events").at(0).at("text").get<std::string>(), std::string("more rows"));
    QVERIFY(json.at("whole_model").is_object());
}

void TestSessionExport::anEmptySessionHasEmptyLists()
{
    const Json json = valueOf(exportSessionJson(*session_));
    for (const char *key : {"tasks", "candidates", "events"})
        QVERIFY(json.at(key) == Json::array());
    for (const char *key : {"model", "profile", "whole_model"})
        QVERIFY(json.at(key).is_null());
}

void TestSessionExport::theTableHasItsColumns()
{
    QCOMPARE(valueOf(exportSessionTsv(*session_)),
             std::string(
                 "experiment\ttag\tkernel_type\tthroughput_tflops\tlatency_us\tpct_peak\tspeedup_vs_pytorch\t"
                 "correctness\tpeak_vram_mb\tdescription\n"));
}

void TestSessionExport::aRowHoldsTheNumbersOfItsCandidate()
{
    QVERIFY(session_->putTask(smallTask("t")));
    QVERIFY(session_->addCandidate(candidateFor("t", "a")));
    QVERIFY(session_->setEvaluation(1, fullEvaluation(Verdict::Faster, 4)));
    // 16384 operations in 4 µs are 0.0041 TFLOP/s; the floor is half the time; two tensors of 65536 bytes.
    const std::vector<std::string> expected{
        "1",    "playbook", "pointwise", "0.0041", "4.000",
        "50.0", "2.000",    "faster",    "0.131",  "Four elements per thread"};
    QCOMPARE(row(1), expected);
}

void TestSessionExport::whatIsUnknownIsEmpty()
{
    QVERIFY(session_->putTask(smallTask("t")));
    QVERIFY(session_->addCandidate(candidateFor("t", "a")));
    const auto cells = row(1);
    QCOMPARE(cells.at(3), std::string());
    QCOMPARE(cells.at(4), std::string());
    QCOMPARE(cells.at(6), std::string());
    QCOMPARE(cells.at(7), std::string("not evaluated"));
}

void TestSessionExport::tabsAndLineEndsCannotBreakARow()
{
    QVERIFY(session_->putTask(smallTask("t")));
    Candidate candidate = candidateFor("t", "a");
    candidate.summary = "two\tcells\nand two lines";
    QVERIFY(session_->addCandidate(candidate));
    QCOMPARE(row(1).size(), std::size_t{10});
    QCOMPARE(row(1).back(), std::string("two cells and two lines"));
    QCOMPARE(splitText(valueOf(exportSessionTsv(*session_)), '\n').size(),
             std::size_t{3}); // heading, row, end
}

QTEST_GUILESS_MAIN(TestSessionExport)
#include "test_session_export.moc"
