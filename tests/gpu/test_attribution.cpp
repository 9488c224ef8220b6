// SPDX-License-Identifier: GPL-3.0-or-later
// On a real GPU each kernel of a running model is counted for the operator that launched it.
#include "engine/compile/compiler.h"
#include "engine/device/cuda/cuda_device.h"
#include "engine/device/kernel_attribution.h"
#include "engine/import/importer.h"
#include "engine/measure/profiler.h"
#include "graph/in_place.h"
#include "graph/operator_class.h"

#include <QTest>

#include <cmath>

using namespace kernelwright;

class TestAttribution : public QObject
{
    Q_OBJECT

private slots:
    void init()
    {
        if (listCudaDevices().empty()) QSKIP("skipped: no GPU");
        auto opened = openCudaDevice(0);
        QVERIFY2(opened.has_value(), opened ? "" : opened.error().message.c_str());
        device_ = std::move(*opened);
    }
    void cleanup() { device_.reset(); }

    void launchesBelongToWhoIsMarked();
    void theProfileNamesTheKernelsOfEachOperator();

private:
    std::unique_ptr<Device> device_;
};

void TestAttribution::launchesBelongToWhoIsMarked()
{
    const char *source = "extern \"C\" __global__ void one() {}\nextern \"C\" __global__ void other() {}\n";
    auto compiled = compileCandidate({source, device_->info().architecture, {}, false});
    QVERIFY2(compiled.has_value(), compiled ? "" : compiled.error().message.c_str());
    auto module = device_->load(compiled->program);
    QVERIFY(module.has_value());
    auto *attribution = dynamic_cast<KernelAttribution *>(device_.get());
    QVERIFY(attribution);
    const auto launch = [&](const char *kernel) {
        const DeviceLaunch made{kernel, {1, 1, 1}, {32, 1, 1}, 0, {}};
        return device_->enqueue(**module, {&made, 1});
    };
    const auto runs = attribution->attributeKernels(
        [&](const KernelAttribution::Mark &mark) -> Result<void> {
            mark(7);
            for (int i = 0; i < 2; ++i)
                if (auto launched = launch("one"); !launched) return launched;
            mark(9);
            if (auto launched = launch("other"); !launched) return launched;
            mark(0);
            return launch("one");
        },
        1, 3, {});
    QVERIFY2(runs.has_value(), runs ? "" : runs.error().message.c_str());
    QCOMPARE(runs->size(), std::size_t{3});
    for (const AttributedRun &run : *runs) {
        QCOMPARE(run.kernels.size(), std::size_t{3});
        QCOMPARE(run.kernels[0].owner, std::uint64_t{0});
        QCOMPARE(run.kernels[1].owner, std::uint64_t{7});
        QCOMPARE(run.kernels[1].name, std::string("one"));
        QCOMPARE(run.kernels[1].launches, 2);
        QCOMPARE(run.kernels[2].owner, std::uint64_t{9});
        QCOMPARE(run.kernels[2].name, std::string("other"));
        QVERIFY(run.sumUs > 0 && run.spanUs > 0);
    }
}

void TestAttribution::theProfileNamesTheKernelsOfEachOperator()
{
    if (!torchHasCuda()) QSKIP("skipped: this LibTorch cannot use the GPU");
    auto model =
        importModel(std::string(qgetenv("KERNELWRIGHT_SOURCE")) + "/resources/samples/llama_block.pt2", {});
    QVERIFY2(model.has_value(), model ? "" : model.error().message.c_str());
    replaceInPlaceOperators(model->graph);
    const auto profile = profileModel(*model, *device_, {});
    QVERIFY2(profile.has_value(), profile ? "" : profile.error().message.c_str());
    QCOMPARE(profile->timeSource, std::string("cupti"));
    double sum = 0;
    for (const OperatorProfile &entry : profile->operators) {
        const Node &node = model->graph.node(model->graph.findNode(entry.name));
        double ofKernels = 0;
        for (const KernelShare &kernel : entry.kernels) {
            QVERIFY(!kernel.name.empty() && kernel.launches > 0);
            ofKernels += kernel.timeUs;
        }
        if (operatorTraits(node.op).kind == OperatorClass::MatrixProduct)
            QVERIFY2(!entry.kernels.empty() && ofKernels > 0, entry.name.c_str());
        if (isFree(model->graph, node)) QVERIFY2(entry.kernels.empty(), entry.name.c_str());
        sum += entry.timeUs;
    }
    QVERIFY(std::fabs(sum - profile->totalUs) < 1e-6 * sum);
}

QTEST_GUILESS_MAIN(TestAttribution)
#include "test_attribution.moc"
