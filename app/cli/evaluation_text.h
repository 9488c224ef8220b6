// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "kernel/candidate.h"

#include <string>

namespace kernelwright::cli
{

/// "12.3 µs", and "(modelled)" behind it where the simulator's model says so; "" where nothing was measured.
std::string latencyText(const Evaluation &evaluation);
std::string speedupText(const Evaluation &evaluation);

/// Stages, diagnostics, the worst element, times and metrics, as `evaluate` prints them.
std::string evaluationText(const Evaluation &evaluation);

/// One line per candidate: what it came from, verdict, time, speed-up, idea.
std::string candidateTable(const std::vector<Candidate> &candidates);

} // namespace kernelwright::cli
