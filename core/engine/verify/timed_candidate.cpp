// SPDX-License-Identifier: GPL-3.0-or-later
#include "timed_candidate.h"

namespace kernelwright
{

std::optional<StageOutcome> TimedCandidate::prepare(EvaluationRun &run, int sets, int longestDistance)
{
    run_ = &run;
    longestDistance_ = longestDistance;
    for (int i = 0; i < sets; ++i)
        if (auto failed = prepareSet(run)) return failed;
    return std::nullopt;
}

std::optional<StageOutcome> TimedCandidate::prepareSet(EvaluationRun &run)
{
    const ShapeCase &captured = run.task().cases.front();
    auto bound = BoundCase::make(run, captured);
    if (!bound) return failure(bound.error(), "");
    Set set;
    set.bound = std::move(*bound);
    std::vector<HostTensor> inputs =
        generateInputs(run.task(), captured, run.prepared.capturedInputs, InputPattern::LikeCaptured,
                       WeightChoice::Captured, run.random());
    auto expected = run.references.expect(captured, inputs, run.request.cancel);
    if (!expected) return StageOutcome::failed(Verdict::NotRun, expected.error().message);
    set.expected = std::move(*expected);
    if (const auto written = set.bound->buffers().setInputs(std::move(inputs)); !written)
        return failure(written.error(), "uploading");
    auto outputs = runOnce(run, *set.bound, poisonNan);
    if (!outputs) return failure(outputs.error(), "the run before timing");
    if (auto wrong = judge(run, captured, *outputs, set.expected, "the inputs to be timed", poisonNan))
        return wrong;
    set.verified = std::move(*outputs);
    sets_.push_back(std::move(set));
    return std::nullopt;
}

std::optional<StageOutcome> TimedCandidate::inspect(std::size_t index)
{
    Set &set = sets_[index];
    const auto outputs = set.bound->buffers().readOutputs();
    if (!outputs) return failure(outputs.error(), "reading timed outputs");
    ++inspections_;
    bool same = true;
    for (std::size_t i = 0; i < outputs->size(); ++i)
        same &= !firstDifference((*outputs)[i], set.verified[i]);
    if (same) return std::nullopt;
    auto wrong = judge(*run_, set.bound->shapes(), *outputs, set.expected, "a timed run", poisonNumber);
    if (wrong) wrong->message = "right before timing, wrong while it was timed: " + wrong->message;
    return wrong;
}

Result<void> TimedCandidate::enqueue()
{
    const bool compares = pending_.has_value();
    if (pending_ && !failure_) failure_ = inspect(*pending_);
    pending_.reset();
    if (failure_) return fail(ErrorCode::BadInput, failure_->message);
    const std::size_t index = disturbed_.size() % sets_.size();
    Set &set = sets_[index];
    // The first call of each set is always inspected: that the outputs are made anew must be seen at least
    // once.
    const bool inspected = !set.wasCalled || --untilInspection_ <= 0;
    if (inspected) {
        if (const auto poisoned = set.bound->buffers().poison(poisonNumber); !poisoned) return poisoned;
        pending_ = index;
        untilInspection_ =
            1 + static_cast<int>(run_->random() % static_cast<std::uint64_t>(longestDistance_));
    }
    set.wasCalled = true;
    disturbed_.push_back(inspected || compares);
    return run_->device.enqueue(*run_->module, set.bound->buffers().launches());
}

std::vector<TimeSample> TimedCandidate::undisturbed(const std::vector<TimeSample> &samples) const
{
    constexpr std::size_t enough = 10;
    if (samples.size() > disturbed_.size()) return samples;
    const std::size_t warmUps = disturbed_.size() - samples.size();
    std::vector<TimeSample> kept;
    for (std::size_t i = 0; i < samples.size(); ++i)
        if (!disturbed_[warmUps + i]) kept.push_back(samples[i]);
    return kept.size() >= enough ? kept : samples;
}

std::optional<StageOutcome> TimedCandidate::finish()
{
    pending_.reset();
    for (std::size_t i = 0; i < sets_.size() && !failure_; ++i)
        if (sets_[i].wasCalled) failure_ = inspect(i);
    return failure_;
}

} // namespace kernelwright
