// SPDX-License-Identifier: GPL-3.0-or-later
#include "display_text.h"

#include "base/text.h"

#include <QStringList>

namespace kernelwright::ui
{

QString fromText(const std::string &text)
{
    return QString::fromStdString(text);
}

QString candidateTitle(const Candidate &candidate)
{
    const QString number = QStringLiteral("#%1").arg(candidate.iteration);
    return candidate.name.empty() ? number : number + QLatin1Char(' ') + fromText(candidate.name);
}

QString verdictText(const Candidate &candidate)
{
    if (!candidate.evaluation) return QStringLiteral("evaluating");
    return QString::fromLatin1(verdictName(candidate.evaluation->verdict));
}

QString latencyText(const Evaluation &evaluation)
{
    if (evaluation.latency.medianUs <= 0) return QStringLiteral("–");
    const QString time = fromText(formatMicroseconds(evaluation.latency.medianUs));
    return evaluation.timeSource == "model" ? time + QStringLiteral(" (modelled)") : time;
}

QString timeSourceText(const std::string &timeSource)
{
    if (timeSource == "cupti") return QStringLiteral("measured by CUPTI");
    if (timeSource == "events") return QStringLiteral("measured by CUDA events");
    if (timeSource == "model") return QStringLiteral("modelled times");
    if (timeSource == "cpu clock") return QStringLiteral("timed on the CPU");
    return fromText(timeSource);
}

QString deviceBadgeText(const DeviceInfo &device, const QString &timeSource)
{
    QString text = fromText(device.id);
    if (!device.isSimulated && !device.name.empty()) text += QLatin1Char(' ') + fromText(device.name);
    const QString how =
        device.isSimulated ? timeSourceText("model") : timeSourceText(timeSource.toStdString());
    return how.isEmpty() ? text : text + QStringLiteral(" · ") + how;
}

QString worstElementText(const WorstElement &worst)
{
    QStringList index;
    for (const std::int64_t i : worst.index)
        index << QString::number(i);
    QString text = QStringLiteral("%1[%2]: expected %3, got %4, allowed error %5")
                       .arg(fromText(worst.output), index.join(QStringLiteral(", ")))
                       .arg(worst.expected, 0, 'g', 7)
                       .arg(worst.got, 0, 'g', 7)
                       .arg(worst.allowed, 0, 'g', 3);
    if (!worst.shapeCase.empty()) text += QStringLiteral(" (case %1)").arg(fromText(worst.shapeCase));
    return text;
}

QString withoutNamespace(const std::string &op)
{
    const auto colons = op.rfind("::");
    return fromText(colons == std::string::npos ? op : op.substr(colons + 2));
}

QString elideMiddle(const QString &text, int maximumLength)
{
    if (text.size() <= maximumLength || maximumLength < 3) return text;
    const auto front = (maximumLength - 1) / 2;
    const auto back = maximumLength - 1 - front;
    return text.left(front) + QChar(0x2026) + text.right(back);
}

} // namespace kernelwright::ui
