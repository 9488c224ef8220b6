// SPDX-License-Identifier: GPL-3.0-or-later
// session_writer FILE: stores candidates with evaluations one after another, says after each which id is
// stored, and does not stop by itself.
#include "session/session.h"

#include <QCoreApplication>

#include <cstdio>

using namespace kernelwright;

int main(int argc, char **argv)
{
    const QCoreApplication application(argc, argv);
    if (argc != 2) return 2;
    auto session = Session::open(QString::fromLocal8Bit(argv[1]));
    if (!session) {
        std::fprintf(stderr, "%s\n", session.error().message.c_str());
        return 2;
    }
    Task task;
    task.id = "t";
    task.title = "a task";
    if (!(*session)->putTask(task)) return 3;
    while (true) {
        Candidate candidate;
        candidate.taskId = "t";
        candidate.source = std::string(2000, 'x');
        const auto stored = (*session)->addCandidate(candidate);
        if (!stored) return 3;
        Evaluation evaluation;
        evaluation.verdict = Verdict::Faster;
        evaluation.latency.medianUs = static_cast<double>(stored->id);
        evaluation.compile.ptx = std::string(20000, 'y');
        if (!(*session)->setEvaluation(stored->id, evaluation)) return 3;
        std::printf("%lld\n", static_cast<long long>(stored->id));
        std::fflush(stdout);
    }
}
