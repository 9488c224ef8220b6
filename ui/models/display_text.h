// SPDX-License-Identifier: GPL-3.0-or-later
// Engine values in the words of the window.
#pragma once

#include "kernel/candidate.h"
#include "kernel/device_info.h"

#include <QString>

namespace kernelwright::ui
{

QString fromText(const std::string &text);

/// "#3", or the name the person gave it: "#3 wide rows".
QString candidateTitle(const Candidate &candidate);

/// "faster", "compile error" …; "evaluating" while there is no evaluation.
QString verdictText(const Candidate &candidate);

/// Times as a person may rely on them: "74.4 µs", and "74.4 µs (modelled)" where the simulator's model said
/// so.
QString latencyText(const Evaluation &evaluation);

/// "simt:h200 · modelled times" or "cuda:0 NVIDIA H200 · measured by CUPTI". `timeSource` as in
/// Evaluation::timeSource;
/// "" before anything was timed.
QString deviceBadgeText(const DeviceInfo &device, const QString &timeSource);

/// "measured by CUPTI", "measured by CUDA events", "modelled"; "" for "".
QString timeSourceText(const std::string &timeSource);

/// "in_norm.weight[3, 5]: expected 0.25, got 0.5, allowed error 1e-06 (case rows 1)".
QString worstElementText(const WorstElement &worst);

/// "mul" for "aten::mul".
QString withoutNamespace(const std::string &op);

/// Cuts long text in the middle so that both ends stay: "model.layers…input_layernorm".
QString elideMiddle(const QString &text, int maximumLength);

} // namespace kernelwright::ui
