// SPDX-License-Identifier: GPL-3.0-or-later
// Accepted candidates become kernels with places in the model, each operator replaced once.
#include "search/accepted_kernels.h"
#include "search_fixtures.h"

#include <QTest>

using namespace kernelwright;
using namespace kernelwright::test;

namespace
{
AcceptedKernel kernel(const std::string &id, std::vector<std::vector<std::string>> places, double savedUs)
{
    return {.taskId = id, .taskTitle = id, .places = std::move(places), .savedUs = savedUs};
}
} // namespace

class TestAcceptedKernels : public QObject
{
    Q_OBJECT

private slots:
    void init() { fixture_ = std::make_unique<SearchFixture>(); }
    void cleanup() { fixture_.reset(); }

    void onlyAcceptedCandidatesBecomeKernels();
    void twinsArePlacesToo();
    void theKernelThatSavesMoreChoosesFirst();
    void savingCountsOverAllPlaces();
    void applyingStoresTheReport();
    void applyingNothingIsAnError();

private:
    void searchOne(const std::string &node, const std::string &source)
    {
        fixture_->agent.then(source);
        (void)valueOf(fixture_->search(SearchFixture::only(node, 1)));
    }
    std::unique_ptr<SearchFixture> fixture_;
};

void TestAcceptedKernels::onlyAcceptedCandidatesBecomeKernels()
{
    searchOne("relu_1", "verdict=faster us=5 eager=20");
    searchOne("relu_3", "verdict=slower us=40 eager=20");
    const auto kernels = valueOf(acceptedKernels(*fixture_->session));
    QCOMPARE(kernels.size(), std::size_t{1});
    QCOMPARE(kernels[0].taskId, std::string("task+relu_1"));
    QCOMPARE(kernels[0].source, std::string("verdict=faster us=5 eager=20"));
    QCOMPARE(kernels[0].speedup, 4.0);
    QCOMPARE(kernels[0].savedUs, 15.0);
}

void TestAcceptedKernels::twinsArePlacesToo()
{
    searchOne("relu_0", "verdict=faster us=5 eager=20");
    const std::vector<std::vector<std::string>> places{{"relu_0"}, {"relu_5"}};
    QCOMPARE(valueOf(acceptedKernels(*fixture_->session)).at(0).places, places);
}

void TestAcceptedKernels::theKernelThatSavesMoreChoosesFirst()
{
    const PlacedKernels placed =
        placeKernels({kernel("small", {{"a"}, {"c"}}, 1), kernel("large", {{"a", "b"}}, 9)});
    QCOMPARE(placed.kernels.size(), std::size_t{2});
    QCOMPARE(placed.kernels[0].taskId, std::string("large"));
    QCOMPARE(placed.kernels[1].places, (std::vector<std::vector<std::string>>{{"c"}}));
    QCOMPARE(placed.conflicts.size(), std::size_t{1});
    QVERIFY(placed.conflicts[0].find("'small' is not used in 1 of its 2 places") != std::string::npos);
}

void TestAcceptedKernels::savingCountsOverAllPlaces()
{
    const PlacedKernels placed =
        placeKernels({kernel("once", {{"a", "b"}}, 5), kernel("often", {{"a"}, {"c"}, {"d"}}, 2)});
    QCOMPARE(placed.kernels.size(), std::size_t{1});
    QCOMPARE(placed.kernels[0].taskId, std::string("often"));
}

void TestAcceptedKernels::applyingStoresTheReport()
{
    searchOne("relu_0", "verdict=faster us=5 eager=20");
    const auto report = valueOf(applyAccepted(fixture_->workspace, *fixture_->session, {}));
    QCOMPARE(report.replaced.at(0).places, 2);
    QCOMPARE(valueOf(fixture_->session->wholeModelReport())->optimizedUs, 50.0);
    const auto events = fixture_->eventsOfKind("whole model");
    QCOMPARE(events.size(), std::size_t{1});
    QVERIFY2(events[0].find("50.0 µs instead of 60.0 µs") != std::string::npos, events[0].c_str());
}

void TestAcceptedKernels::applyingNothingIsAnError()
{
    const auto report = applyAccepted(fixture_->workspace, *fixture_->session, {});
    QVERIFY(!report);
    QCOMPARE(report.error().code, ErrorCode::BadInput);
    QVERIFY(report.error().message.find("no candidate is accepted") != std::string::npos);
}

QTEST_GUILESS_MAIN(TestAcceptedKernels)
#include "test_accepted_kernels.moc"
