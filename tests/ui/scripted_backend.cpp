// SPDX-License-Identifier: GPL-3.0-or-later
#include "scripted_backend.h"

#include "fixtures.h"

#include <QTimer>

namespace kernelwright::test
{

using namespace ui;

namespace
{

constexpr int iterations = 4;

const char *const sourceText = R"(//@ tune ROWS = 2 1 4 8
//@ kernel rms_norm grid=ceildiv(x_size0,ROWS) block=(32,ROWS)

// One warp computes one row: each lane sums the squares of every 32nd element, the lanes add their sums by
// shuffles, and the row is scaled in a second pass that finds it in the first cache.
__device__ float warp_sum(float value)
{
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, offset);
    return value;
}

extern "C" __global__ void __launch_bounds__(32 * ROWS)
rms_norm(const float *__restrict__ x, const float *__restrict__ weight, float *__restrict__ mul_2,
         int x_size0, int x_size1)
{
    const int row = blockIdx.x * ROWS + threadIdx.y;
    if (row >= x_size0)
        return;
    const float *from = x + static_cast<long long>(row) * x_size1;
    float *to = mul_2 + static_cast<long long>(row) * x_size1;
    float squares = 0.0f;
    for (int i = threadIdx.x; i < x_size1; i += 32)
        squares = fmaf(from[i], from[i], squares);
    const float scale = rsqrtf(warp_sum(squares) / x_size1 + 1e-6f);
    for (int i = threadIdx.x; i < x_size1; i += 32)
        to[i] = from[i] * scale * weight[i];
}
)";

QString summaryOf(int iteration)
{
    switch (iteration) {
    case 1:
        return QStringLiteral(
            "Fuse the five operators into one kernel, one thread per row, to see what is lost.");
    case 2:
        return QStringLiteral("Let a warp share a row so that its loads are neighbours.");
    case 3:
        return QStringLiteral("Several rows per block fill the multiprocessors.");
    default:
        return QStringLiteral("Read four elements at a time: fewer, wider loads.");
    }
}

const QStringList reasoningPieces{
    QStringLiteral("The five operators of this normalisation read and write the same 128 KiB five times. "),
    QStringLiteral(
        "Eager takes 20 µs where moving the bytes once would take 4.0 µs, so the time goes into traffic and "
        "launches, not arithmetic. "),
    QStringLiteral("One kernel that keeps a row in registers needs to read it once. "),
    QStringLiteral(
        "A warp can add the squares of a row by shuffles, without shared memory and without a barrier.")};

WholeModelReport reportOf(double measured, double predicted)
{
    WholeModelReport report;
    report.maxAbsError = 2.1e-6;
    report.maxRelError = 3e-5;
    report.eagerMaxAbsError = 1.8e-6;
    report.allowedAbsError = 3.6e-6;
    report.withinTolerance = true;
    report.inputSets = 3;
    report.baselineUs = 100;
    report.optimizedUs = 100 / measured;
    report.baselineSpanUs = 180;
    report.optimizedSpanUs = 170;
    report.speedupMeasured = measured;
    report.speedupPredicted = predicted;
    report.timeSource = "model";
    report.replaced = {{"task", "RMSNorm in layers.0.norm", 1, "replaced"}};
    return report;
}

} // namespace

void ScriptedBackend::then(std::function<void()> event)
{
    events_.push_back(std::move(event));
    playNext();
}

void ScriptedBackend::playNext()
{
    if (scheduled_ || paused_ || events_.empty()) return;
    scheduled_ = true;
    QTimer::singleShot(0, this, [this] {
        scheduled_ = false;
        if (paused_ || events_.empty()) return;
        const auto event = std::move(events_.front());
        events_.pop_front();
        event();
        playNext();
    });
}

void ScriptedBackend::setJob(Job job)
{
    job_ = job;
    emit jobChanged();
}

void ScriptedBackend::openModel(const QString &path, const QString &device)
{
    calls << QStringLiteral("open %1 on %2").arg(path.section(QLatin1Char('/'), -1), device);
    setJob(Job::Opening);
    then([this, path] {
        if (!failOpening.isEmpty()) {
            emit failed(Job::Opening, {ErrorCode::BadInput, failOpening.toStdString()});
            setJob(Job::None);
            return;
        }
        ModelSummary model;
        model.path = path.toStdString();
        model.graph = smallGraph();
        model.format = "pt2";
        emit modelOpened(model);
        DeviceInfo device;
        device.id = "simt:h200";
        device.name = "SIMT simulator modelling an NVIDIA H200";
        device.isSimulated = true;
        emit devicesFound({device});
        emit deviceOpened(device);
        SessionContent content;
        content.path = QStringLiteral("/nowhere/small.session");
        content.model.path = path.toStdString();
        emit sessionOpened(content);
        emit profiled(smallProfile());
        setJob(Job::None);
    });
}

void ScriptedBackend::openSession(const QString &path)
{
    calls << QStringLiteral("open session ") + path.section(QLatin1Char('/'), -1);
    SessionContent content;
    content.path = path;
    content.model.path = "small.pt2";
    content.profile = smallProfile();
    content.tasks = {smallTask()};
    content.candidates = {candidateFromText(QStringLiteral("1 parent 0 slower 30 x 0.67 by playbook: first")),
                          candidateFromText(QStringLiteral("2 parent 1 faster 12.5 x 1.60 by person: mine"))};
    content.candidates[0].reasoning = "I would begin simply.";
    content.candidates[1].accepted = true;
    SessionEvent prompt;
    prompt.kind = "prompt";
    prompt.taskId = "task";
    prompt.candidate = 1;
    prompt.text = "wider loads";
    content.events = {prompt};
    content.report = reportOf(1.11, 1.12);
    emit sessionOpened(content);
    ModelSummary model;
    model.path = "small.pt2";
    model.graph = smallGraph();
    emit modelOpened(model);
}

void ScriptedBackend::useDevice(const QString &device)
{
    calls << QStringLiteral("device ") + device;
}

void ScriptedBackend::optimise(const SearchOptions &options)
{
    QString nodes;
    for (const auto &task : options.tasks)
        for (const std::string &node : task)
            nodes += QLatin1Char(' ') + QString::fromStdString(node);
    calls << QStringLiteral("optimise") + nodes;
    setJob(Job::Searching);
    then([this] {
        emit taskStarted(smallTask());
        emit chose(QStringLiteral(
            "Next is 'RMSNorm in layers.0.norm': at its floor the whole model would run 1.28× as fast."));
    });
    for (int i = 0; i < iterations; ++i)
        then([this] {
            playProposal(steerFrom_ != noCandidate ? steerFrom_ : lastId_, std::exchange(steerWords_, {}));
        });
}

void ScriptedBackend::playProposal(CandidateId parent, const QString &instruction)
{
    steerFrom_ = noCandidate;
    std::deque<std::function<void()>> rest;
    rest.swap(events_);
    const int iteration = static_cast<int>(candidates_.size()) + 1;
    then([this, parent, iteration] { emit proposalStarted(smallTask(), parent, iteration); });
    for (const QString &piece : reasoningPieces)
        then([this, piece] { emit reasoned(piece); });
    const QString source = QString::fromUtf8(sourceText) + QStringLiteral("// candidate %1\n").arg(iteration);
    for (qsizetype at = 0; at < source.size(); at += 200)
        then([this, piece = source.mid(at, 200)] { emit wrote(piece); });
    Candidate candidate;
    candidate.id = ++lastId_;
    candidate.iteration = iteration;
    candidate.taskId = "task";
    candidate.parent = parent;
    candidate.author = "playbook";
    candidate.summary = summaryOf(iteration).toStdString();
    candidate.instruction = instruction.toStdString();
    candidate.reasoning = reasoningPieces.join(QString()).toStdString();
    candidate.source = source.toStdString();
    playEvaluation(candidate);
    const bool last = rest.empty();
    for (auto &event : rest)
        events_.push_back(std::move(event));
    if (last)
        then([this] {
            if (steerFrom_ != noCandidate || !steerWords_.isEmpty()) {
                playProposal(steerFrom_, std::exchange(steerWords_, {}));
                return;
            }
            emit taskFinished(smallTask(), QStringLiteral("Nothing is left to try."));
            emit searchFinished({{"task", "RMSNorm", 3, 1.43}});
            setJob(Job::None);
        });
}

void ScriptedBackend::playEvaluation(Candidate candidate)
{
    then([this, candidate] {
        candidates_[candidate.id] = candidate;
        emit candidateAdded(candidate);
    });
    Candidate judged = candidate;
    judged.evaluation = evaluationOf(candidate);
    for (const StageResult &stage : judged.evaluation->stages)
        then([this, stage, id = candidate.id] { emit stageReached(id, stage); });
    then([this, judged] {
        candidates_[judged.id] = judged;
        emit candidateEvaluated(judged);
    });
}

Evaluation ScriptedBackend::evaluationOf(const Candidate &candidate) const
{
    Evaluation evaluation;
    evaluation.device = "simt:h200 (modelled)";
    evaluation.timeSource = "model";
    evaluation.floorUs = 4;
    evaluation.baselines = {{"eager", {20, 0.4, 60, 20}}};
    if (candidate.iteration == 2) {
        evaluation.verdict = Verdict::Incorrect;
        evaluation.reason = "mul_2[0, 31] differs from the reference in the captured case";
        evaluation.worst = WorstElement{"mul_2", "captured", {0, 31}, 0.1234, 0.5, 1e-6};
        evaluation.stages = {{"compile", StageStatus::Passed, "24 registers, no spills", 0.2},
                             {"smoke", StageStatus::Failed, "mul_2[0, 31]: expected 0.1234, got 0.5", 0.1}};
        evaluation.compile.diagnostics = {
            {22, 5, "warning", "variable \"unused\" was declared but never referenced"}};
        return evaluation;
    }
    for (const char *name :
         {"compile", "smoke", "shapes", "dtypes", "numerics", "determinism", "memory", "measure", "recheck"})
        evaluation.stages.push_back({name, StageStatus::Passed, "agrees with the reference", 0.15});
    const double times[] = {30, 24, 14, 13.2};
    const double time = candidate.iteration <= 4 ? times[candidate.iteration - 1] : 15;
    evaluation.latency = {time, time / 18, 60, time};
    evaluation.speedup = 20 / time;
    evaluation.verdict = time < 20 ? Verdict::Faster : Verdict::Slower;
    evaluation.reason =
        time < 20 ? "its interval lies below that of eager" : "its interval lies above that of eager";
    evaluation.metrics["achieved_occupancy"] = {30.0 + 12 * candidate.iteration, "%"};
    evaluation.metrics["theoretical_occupancy"] = {100, "%"};
    evaluation.metrics["dram_throughput"] = {262144 / time / 1e3, "GB/s"};
    evaluation.metrics["sectors_per_request"] = {candidate.iteration == 1 ? 32.0 : 4.0, "1"};
    return evaluation;
}

void ScriptedBackend::pause()
{
    calls << QStringLiteral("pause");
    paused_ = true;
    emit jobChanged();
}

void ScriptedBackend::resume()
{
    calls << QStringLiteral("resume");
    paused_ = false;
    emit jobChanged();
    playNext();
}

void ScriptedBackend::stop()
{
    calls << QStringLiteral("stop");
    events_.clear();
    paused_ = false;
    setJob(Job::None);
}

void ScriptedBackend::setAgent(const AgentChoice &choice)
{
    agent = choice;
}

void ScriptedBackend::preparePrompt(const std::string &taskId, CandidateId parent, const QString &words)
{
    calls << QStringLiteral("prepare prompt #%1: %2").arg(parent).arg(words);
    then([=, this] { emit promptPrepared(taskId, parent, {"the system", "the task", "the step"}); });
}

void ScriptedBackend::prompt(const std::string &, CandidateId parent, const QString &words,
                             const std::optional<AgentPrompt> &edited)
{
    calls << QStringLiteral("prompt #%1: %2").arg(parent).arg(words);
    if (edited) calls << QStringLiteral("edited prompt: ") + QString::fromStdString(edited->step);
    if (job_ == Job::Searching) {
        steerFrom_ = parent;
        steerWords_ = words;
        return;
    }
    setJob(Job::Proposing);
    then([=, this] { playProposal(parent, words); });
}

void ScriptedBackend::evaluateEdit(const std::string &taskId, CandidateId parent, const QString &source)
{
    calls << QStringLiteral("evaluate edit of #%1").arg(parent);
    Candidate candidate;
    candidate.id = ++lastId_;
    candidate.iteration = static_cast<int>(candidates_.size()) + 1;
    candidate.taskId = taskId;
    candidate.parent = parent;
    candidate.author = "person";
    candidate.summary = "Edited by hand";
    candidate.source = source.toStdString();
    playEvaluation(candidate);
}

void ScriptedBackend::accept(CandidateId id)
{
    calls << QStringLiteral("accept #%1").arg(id);
    Candidate candidate = candidates_[id];
    candidate.accepted = true;
    candidates_[id] = candidate;
    emit candidateChanged(candidate);
}

void ScriptedBackend::setLabels(CandidateId id, const QString &name, const QString &note, bool pinned)
{
    calls << QStringLiteral("labels #%1 '%2' '%3' %4").arg(id).arg(name, note).arg(pinned);
    Candidate candidate = candidates_[id];
    candidate.name = name.toStdString();
    candidate.note = note.toStdString();
    candidate.pinned = pinned;
    candidates_[id] = candidate;
    emit candidateChanged(candidate);
}

void ScriptedBackend::measureWholeModel()
{
    calls << QStringLiteral("measure");
    then([this] { emit wholeModelMeasured(reportOf(1.06, 1.07)); });
}

} // namespace kernelwright::test
