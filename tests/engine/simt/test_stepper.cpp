// SPDX-License-Identifier: GPL-3.0-or-later
// A warp is gone through instruction by instruction, forward and back, and shows what its lanes hold and
// touch.
#include "cuda_source.h"
#include "simulator_fixture.h"

#include <bit>

using namespace kernelwright;

namespace
{

const char *const reversal = R"(extern "C" __global__ void k(const int *x, int *y, int n) {
  __shared__ int s[64];
  s[threadIdx.x] = x[threadIdx.x] * 2;
  __syncthreads();
  int v = s[63 - threadIdx.x];
  if (threadIdx.x & 1)
    v += 100;
  y[threadIdx.x * 2] = v;
})";

const RegisterState *findChanged(const WarpState &state)
{
    for (const RegisterState &each : state.registers)
        if (each.hasChanged) return &each;
    return nullptr;
}

} // namespace

class StepperTest : public QObject
{
    Q_OBJECT

private slots:
    void init();
    void theFirstInstructionComesFirst();
    void stepsGoForwardAndBack();
    void aLineIsFoundInBothDirections();
    void accessesShowTheirSectorsAndBanks();
    void lanesThatPartAreGroups();
    void theOtherWarpsRunAtBarriers();
    void faultsStopAndAreTold();
    void buffersGetTheirValuesBack();
    void whatIsNotThereIsRefused();
    void statesSurviveJson();

private:
    std::unique_ptr<WarpStepper> stepper(std::uint32_t warp = 0, const char *source = reversal);

    std::unique_ptr<Device> device_;
    std::unique_ptr<DeviceModule> module_;
    std::unique_ptr<DeviceMemory> x_, y_;
};

void StepperTest::init()
{
    device_ = openSimulator();
    std::vector<int> values(64);
    for (int i = 0; i < 64; ++i)
        values[static_cast<std::size_t>(i)] = i + 1;
    x_ = upload(*device_, values, "input x");
    y_ = upload(*device_, std::vector<int>(128, -1), "output y");
}

std::unique_ptr<WarpStepper> StepperTest::stepper(std::uint32_t warp, const char *source)
{
    module_ = loadPtx(*device_, compileToPtx(source));
    auto made = device_->stepThrough(
        *module_, launchOf("k", 1, 64, {argument(x_->address()), argument(y_->address()), argument(64)}), 0,
        warp);
    if (!made) qFatal("%s", made.error().message.c_str());
    return std::move(*made);
}

void StepperTest::theFirstInstructionComesFirst()
{
    const WarpState state = stepper()->state();
    QCOMPARE(state.kernel, std::string("k"));
    QCOMPARE(state.step, 0u);
    QCOMPARE(state.live, 0xffffffffu);
    QVERIFY(!state.isFinished);
    QVERIFY2(state.instruction.find("ld.param") != std::string::npos, state.instruction.c_str());
}

void StepperTest::stepsGoForwardAndBack()
{
    const auto step = stepper();
    std::vector<WarpState> seen{step->state()};
    while (!seen.back().isFinished) {
        QVERIFY(step->move(1, {}));
        seen.push_back(step->state());
        QCOMPARE(seen.back().step, seen.size() - 1);
    }
    QVERIFY(seen.size() > 20);
    QVERIFY(seen.back().fault.empty());
    for (std::size_t i = seen.size() - 1; i-- > 0;) {
        QVERIFY(step->move(-1, {}));
        QCOMPARE(Json(step->state()).dump(), Json(seen[i]).dump());
    }
    QVERIFY(step->move(-5, {}));
    QCOMPARE(step->state().step, 0u);
    QVERIFY(step->move(10, {}));
    QCOMPARE(Json(step->state()).dump(), Json(seen[10]).dump());
}

void StepperTest::aLineIsFoundInBothDirections()
{
    const auto step = stepper();
    QVERIFY(step->moveToLine(5, false, {}));
    const WarpState there = step->state();
    QCOMPARE(there.line, 5);
    QVERIFY(step->moveToLine(3, true, {}));
    QCOMPARE(step->state().line, 3);
    QVERIFY(step->state().step < there.step);
    QVERIFY(step->moveToLine(77, false, {}));
    QVERIFY(step->state().isFinished);
    QVERIFY(step->moveToLine(77, true, {}));
    QCOMPARE(step->state().step, 0u);
}

void StepperTest::accessesShowTheirSectorsAndBanks()
{
    const auto step = stepper(1);
    int accesses = 0;
    for (WarpState state = step->state(); !state.isFinished; state = step->state()) {
        for (const AccessState &access : state.access) {
            ++accesses;
            QCOMPARE(access.lanes, 0xffffffffu);
            QCOMPARE(access.bytesPerLane, 4);
            QCOMPARE(access.idealSectors, 4);
            if (access.space == "shared") {
                QCOMPARE(access.bankPasses, 1);
                QCOMPARE(access.bankConflicts, 0);
                continue;
            }
            const bool isLoad = access.kind == "load";
            QCOMPARE(access.buffer, std::string(isLoad ? "input x" : "output y"));
            QCOMPARE(access.sectors.size(), std::size_t{isLoad ? 4u : 8u});
            QCOMPARE(access.offsets[0], isLoad ? 32 * 4 : 32 * 8);
        }
        QVERIFY(step->move(1, {}));
    }
    QCOMPARE(accesses, 4);
}

void StepperTest::lanesThatPartAreGroups()
{
    const auto step = stepper(0, R"(extern "C" __global__ void k(const int *x, int *y, int n) {
  int v = x[threadIdx.x];
  if (v & 1) {
    for (int i = 0; i < v; ++i) v = v * 3 + n;
  } else {
    for (int i = 0; i < v; ++i) v = v * 5 - n;
  }
  y[threadIdx.x] = v;
})");
    bool isParted = false;
    for (WarpState state = step->state(); !state.isFinished; state = step->state()) {
        std::uint32_t lanes = 0;
        for (const LaneGroup &group : state.groups) {
            QCOMPARE(lanes & group.lanes, 0u);
            lanes |= group.lanes;
        }
        QCOMPARE(lanes, state.live);
        isParted = isParted || state.groups.size() > 1;
        QVERIFY(step->move(1, {}));
    }
    QVERIFY(isParted);
}

void StepperTest::theOtherWarpsRunAtBarriers()
{
    const auto step = stepper(0);
    QVERIFY(step->moveToLine(5, false, {}));
    // Thread 0 reads what thread 63 of the other warp wrote: 2 · 64.
    const RegisterState *loaded = nullptr;
    WarpState state = step->state();
    while (!state.isFinished && !loaded) {
        const bool isLoad = !state.access.empty() && state.access.front().kind == "load";
        QVERIFY(step->move(1, {}));
        state = step->state();
        if (isLoad) loaded = findChanged(state);
    }
    QVERIFY(loaded);
    QCOMPARE(registerText(*loaded, 0), std::string("128"));
    QCOMPARE(registerText(*loaded, 31), std::string("66"));
}

void StepperTest::faultsStopAndAreTold()
{
    const auto step = stepper(1, "extern \"C\" __global__ void k(const int *x, int *y, int n) {\n"
                                 "  y[threadIdx.x * 3] = x[threadIdx.x];\n}");
    QVERIFY(step->move(1000, {}));
    const WarpState state = step->state();
    QVERIFY(state.isFinished);
    QVERIFY2(state.fault.find("past the end of 'output y'") != std::string::npos, state.fault.c_str());
    QCOMPARE(state.line, 2);
    QVERIFY(step->move(-1, {}));
    QVERIFY(step->state().fault.empty());
}

void StepperTest::buffersGetTheirValuesBack()
{
    {
        const auto step = stepper();
        QVERIFY(step->move(1000, {}));
        QCOMPARE(download<int>(*device_, *y_)[0], 128);
    }
    QCOMPARE(download<int>(*device_, *y_)[0], -1);
}

void StepperTest::whatIsNotThereIsRefused()
{
    module_ = loadPtx(*device_, compileToPtx(reversal));
    const auto launch =
        launchOf("k", 1, 64, {argument(x_->address()), argument(y_->address()), argument(64)});
    for (const auto &[block, warp] : {std::pair{1u, 0u}, std::pair{0u, 2u}}) {
        const auto step = device_->stepThrough(*module_, launch, block, warp);
        QVERIFY(!step);
        QCOMPARE(step.error().code, ErrorCode::BadInput);
    }
    CancelToken cancelled;
    cancelled.cancel();
    const auto step = stepper();
    const auto moved = step->move(10, cancelled);
    QVERIFY(!moved);
    QCOMPARE(moved.error().code, ErrorCode::Cancelled);
}

void StepperTest::statesSurviveJson()
{
    const auto step = stepper(1);
    QVERIFY(step->moveToLine(3, false, {}));
    const Json json = step->state();
    const auto back = readJson<WarpState>(json, "state");
    QVERIFY2(back, back ? "" : back.error().message.c_str());
    QCOMPARE(Json(*back).dump(), json.dump());
    Json broken = json;
    broken.at("registers").at(0).at("bits").at(3) = "zz";
    QVERIFY(!readJson<WarpState>(broken, "state"));
}

QTEST_GUILESS_MAIN(StepperTest)
#include "test_stepper.moc"
