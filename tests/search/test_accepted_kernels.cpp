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
    void selectsByTask();
    void selectsByLayer();
    void saysWhatASelectionDoesNotFit();
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

namespace
{
/// Nodes "norm_0" … "norm_2" in model.layers.0 … 2 and "sum_0" … outside of them.
OperatorGraph layeredGraph()
{
    OperatorGraph graph;
    for (int layer = 0; layer < 3; ++layer) {
        Node norm, sum;
        norm.name = "norm_" + std::to_string(layer);
        norm.modulePath = "model.layers." + std::to_string(layer) + ".norm";
        sum.name = "sum_" + std::to_string(layer);
        sum.modulePath = "model";
        graph.addNode(std::move(norm));
        graph.addNode(std::move(sum));
    }
    return graph;
}

std::vector<AcceptedKernel> layeredKernels()
{
    return {kernel("t1", {{"norm_0", "sum_0"}, {"norm_1", "sum_1"}, {"norm_2", "sum_2"}}, 1),
            kernel("t2", {{"norm_1"}}, 1)};
}
} // namespace

void TestAcceptedKernels::selectsByTask()
{
    auto kernels = layeredKernels();
    kernels[1].taskTitle = "RMSNorm in model.layers.1";
    const auto byId = valueOf(selectKernels(kernels, layeredGraph(), {{"t1"}, {}}));
    QCOMPARE(byId.size(), std::size_t{1});
    QCOMPARE(byId[0].places.size(), std::size_t{3});
    QCOMPARE(valueOf(selectKernels(kernels, layeredGraph(), {{"RMSNorm"}, {}})).at(0).taskId,
             std::string("t2"));
    QCOMPARE(valueOf(selectKernels(kernels, layeredGraph(), {})).size(), std::size_t{2});
}

void TestAcceptedKernels::selectsByLayer()
{
    using Places = std::vector<std::vector<std::string>>;
    const auto numbered = valueOf(selectKernels(layeredKernels(), layeredGraph(), {{}, {"0", "2"}}));
    QCOMPARE(numbered.size(), std::size_t{1}); // the other has no place there
    QCOMPARE(numbered[0].places, (Places{{"norm_0", "sum_0"}, {"norm_2", "sum_2"}}));
    for (const char *path : {"model.layers.1", "layers.1", "1"}) {
        const auto named = valueOf(selectKernels(layeredKernels(), layeredGraph(), {{}, {path}}));
        QCOMPARE(named.size(), std::size_t{2});
        QCOMPARE(named[0].places, (Places{{"norm_1", "sum_1"}}));
    }
}

void TestAcceptedKernels::saysWhatASelectionDoesNotFit()
{
    const auto task = selectKernels(layeredKernels(), layeredGraph(), {{"t9"}, {}});
    QVERIFY(!task && task.error().code == ErrorCode::BadInput);
    QVERIFY(task.error().message.find("'t9'") != std::string::npos);
    const auto layer = selectKernels(layeredKernels(), layeredGraph(), {{}, {"1", "7"}});
    QVERIFY(!layer && layer.error().message.find("'7'") != std::string::npos);
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
