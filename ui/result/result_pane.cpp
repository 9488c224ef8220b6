// SPDX-License-Identifier: GPL-3.0-or-later
#include "result_pane.h"

#include "base/text.h"
#include "ui/models/display_text.h"
#include "ui/theme/empty_hint.h"

#include <QBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>

namespace kernelwright::ui
{

namespace
{

QString shortNumber(double value)
{
    return QString::number(value, 'g', 3);
}

QString kernelsText(const WholeModelReport &report)
{
    QStringList lines;
    for (const ReplacedKernel &kernel : report.replaced)
        lines << QStringLiteral("%1 – %2, %3")
                     .arg(fromText(kernel.taskTitle), fromText(kernel.status),
                          kernel.places == 1 ? QObject::tr("1 place")
                                             : QObject::tr("%1 places").arg(kernel.places));
    return lines.join(QLatin1Char('\n'));
}

} // namespace

ResultPane::ResultPane(const ThemeController &, QWidget *parent)
    : QWidget(parent)
    , headline_(new QLabel)
    , sentence_(new QLabel)
    , kernels_(new QLabel)
    , numbers_(new QGridLayout)
    , measure_(new QPushButton(tr("Measure whole model")))
{
    QFont large = headline_->font();
    large.setPointSizeF(large.pointSizeF() * 1.5);
    large.setWeight(QFont::DemiBold);
    headline_->setFont(large);
    for (QLabel *label : {headline_, sentence_, kernels_}) {
        label->setWordWrap(true);
        label->setTextFormat(Qt::PlainText);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    }
    setRole(sentence_, "muted");
    setRole(kernels_, "muted");
    measure_->setToolTip(
        tr("Swap the accepted kernels into the model, compare it with the reference and time it"));
    connect(measure_, &QPushButton::clicked, this, &ResultPane::measureRequested);
    auto *content = new QWidget;
    setRole(content, "surface");
    content->setAttribute(Qt::WA_StyledBackground);
    // Its height follows from its width alone; a least height for a least width would leave empty space at
    // the end.
    content->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Ignored);
    auto *inner = new QVBoxLayout(content);
    inner->setContentsMargins(14, 12, 14, 12);
    inner->setSpacing(8);
    inner->addWidget(headline_);
    inner->addWidget(sentence_);
    numbers_->setHorizontalSpacing(18);
    numbers_->setVerticalSpacing(3);
    numbers_->setColumnStretch(1, 1);
    inner->addLayout(numbers_);
    inner->addWidget(kernels_);
    inner->addWidget(measure_, 0, Qt::AlignLeft);
    inner->addStretch(1);
    auto *scroll = new QScrollArea;
    scroll->setWidget(content);
    scroll->setWidgetResizable(true);
    hint_ = new EmptyHint(
        scroll, tr("Accept a candidate (Alt+Enter), and the whole model is measured with it here."));
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(hint_);
}

void ResultPane::clear()
{
    hint_->setEmpty(true);
}

void ResultPane::addRow(int row, const QString &name, const QString &value, const char *role)
{
    for (int column = 0; column < 2; ++column)
        if (QLayoutItem *old = numbers_->itemAtPosition(row, column)) {
            numbers_->removeItem(old);
            delete old->widget();
            delete old;
        }
    auto *left = new QLabel(name);
    setRole(left, "muted");
    auto *right = new QLabel(value);
    right->setTextInteractionFlags(Qt::TextSelectableByMouse);
    setRole(right, role);
    numbers_->addWidget(left, row, 0);
    numbers_->addWidget(right, row, 1);
}

void ResultPane::setReport(const WholeModelReport &report)
{
    hint_->setEmpty(false);
    headline_->setText(
        report.speedupMeasured > 0
            ? tr("Whole model: %1 as fast").arg(fromText(formatSpeedup(report.speedupMeasured)))
            : tr("Whole model: not timed"));
    setRole(headline_, report.withinTolerance ? (report.speedupMeasured > 1 ? "good" : "") : "bad");
    sentence_->setText(
        report.withinTolerance
            ? tr("Its output agrees with the reference on %1 inputs.").arg(report.inputSets)
            : tr("Its output differs from the reference by more than is allowed: take a kernel out."));
    const bool modelled = report.timeSource == "model";
    const auto fromTo = [modelled](double before, double after) {
        return QStringLiteral("%1 → %2").arg(fromText(formatMicroseconds(before)),
                                             fromText(formatMicroseconds(after))) +
               (modelled ? tr("  (modelled)") : QString());
    };
    addRow(0, tr("Time of its kernels"), fromTo(report.baselineUs, report.optimizedUs));
    addRow(1, tr("Gain predicted"), fromText(formatSpeedup(report.speedupPredicted)));
    addRow(2, modelled ? tr("Gain modelled") : tr("Gain measured"),
           fromText(formatSpeedup(report.speedupMeasured)));
    addRow(3, tr("Largest error"),
           tr("%1  (allowed %2)").arg(shortNumber(report.maxAbsError), shortNumber(report.allowedAbsError)),
           report.withinTolerance ? "good" : "bad");
    addRow(4, tr("Eager's own error"), shortNumber(report.eagerMaxAbsError));
    addRow(5, tr("Largest relative error"), shortNumber(report.maxRelError));
    addRow(6, modelled ? QString() : tr("With launch gaps"),
           modelled ? QString()
                    : QStringLiteral("%1 → %2").arg(fromText(formatMicroseconds(report.baselineSpanUs)),
                                                    fromText(formatMicroseconds(report.optimizedSpanUs))));
    if (report.baselineSpanUs > 0)
        addRow(6, tr("First to last kernel"), fromTo(report.baselineSpanUs, report.optimizedSpanUs));
    const auto percent = [](double share) {
        return QString::number(100 * share, 'f', 2) + QStringLiteral(" %");
    };
    addRow(
        7, report.topOneAgreement < 0 ? QString() : tr("Largest logit as in float64"),
        report.topOneAgreement < 0
            ? QString()
            : tr("%1  (eager %2)").arg(percent(report.topOneAgreement), percent(report.eagerTopOneAgreement)),
        report.topOneAgreement < report.eagerTopOneAgreement ? "bad" : "");
    kernels_->setText(kernelsText(report));
}

void ResultPane::setOutdated(int acceptedKernels)
{
    if (acceptedKernels > 0 && !hint_->isShowingHint())
        sentence_->setText(tr("The choice of kernels has changed since this was measured."));
}

void ResultPane::setBusy(bool busy)
{
    measure_->setEnabled(!busy);
    if (busy && hint_->isShowingHint())
        hint_->setHint(tr("Measuring the whole model with the accepted kernels …"));
}

QString ResultPane::headline() const
{
    return hint_->isShowingHint() ? QString() : headline_->text();
}

} // namespace kernelwright::ui
