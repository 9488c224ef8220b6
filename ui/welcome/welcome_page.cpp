// SPDX-License-Identifier: GPL-3.0-or-later
#include "welcome_page.h"

#include "ui/theme/empty_hint.h"

#include <QBoxLayout>
#include <QFileInfo>
#include <QLabel>
#include <QPushButton>

namespace kernelwright::ui
{

namespace
{

void emptyLayout(QLayout *layout)
{
    while (QLayoutItem *item = layout->takeAt(0)) {
        delete item->widget();
        delete item;
    }
}

QLabel *sectionTitle(const QString &text)
{
    auto *label = new QLabel(text);
    setRole(label, "heading");
    return label;
}

} // namespace

WelcomePage::WelcomePage(const ThemeController &themes, QWidget *parent)
    : QWidget(parent)
    , themes_(themes)
{
    auto *mark = new QLabel;
    mark->setPixmap(themedIcon(QStringLiteral("kernelwright"), themes.theme().accent).pixmap(48, 48));
    auto *title = new QLabel(tr("Kernelwright"));
    QFont large = title->font();
    large.setPointSizeF(large.pointSizeF() * 2.1);
    large.setWeight(QFont::DemiBold);
    title->setFont(large);
    auto *subtitle =
        new QLabel(tr("Rewrite a model's slow operators as CUDA kernels, together with an agent. Each kernel "
                      "is proven right, measured, and put back into the model."));
    subtitle->setWordWrap(true);
    setRole(subtitle, "muted");
    auto *head = new QHBoxLayout;
    head->setSpacing(16);
    head->addWidget(mark, 0, Qt::AlignTop);
    auto *words = new QVBoxLayout;
    words->addWidget(title);
    words->addWidget(subtitle);
    head->addLayout(words, 1);

    cards_ = new QHBoxLayout;
    cards_->setSpacing(14);
    recent_ = new QVBoxLayout;
    recent_->setSpacing(2);
    noSamples_ = new QLabel(
        tr("The bundled samples were not found beside the program. Open a model of your own below."));
    noSamples_->setWordWrap(true);
    setRole(noSamples_, "muted");
    auto *open = new QPushButton(tr("Open a model or session …"));
    open->setToolTip(tr("A .pt2 file (torch.export), a TorchScript .pt file, or a session (Ctrl+O)"));
    connect(open, &QPushButton::clicked, this, &WelcomePage::openRequested);
    auto *drop = new QLabel(tr("or drop a .pt2, TorchScript or session file anywhere on this window"));
    setRole(drop, "muted");
    auto *openRow = new QHBoxLayout;
    openRow->addWidget(open);
    openRow->addWidget(drop, 1);

    auto *page = new QWidget;
    page->setMaximumWidth(980);
    auto *column = new QVBoxLayout(page);
    column->setSpacing(14);
    column->addLayout(head);
    column->addSpacing(14);
    column->addWidget(sectionTitle(tr("Start with a sample")));
    column->addLayout(cards_);
    column->addWidget(noSamples_);
    column->addSpacing(14);
    column->addWidget(sectionTitle(tr("Your own model")));
    column->addLayout(openRow);
    column->addSpacing(14);
    column->addWidget(sectionTitle(tr("Recent")));
    column->addLayout(recent_);
    auto *outer = new QVBoxLayout(this);
    outer->setContentsMargins(40, 24, 40, 24);
    outer->addStretch(2);
    auto *middle = new QHBoxLayout;
    middle->addStretch(1);
    middle->addWidget(page, 10);
    middle->addStretch(1);
    outer->addLayout(middle);
    outer->addStretch(3);
    setSamples({});
    setRecentFiles({});
}

QWidget *WelcomePage::makeCard(const Sample &sample, bool first)
{
    auto *card = new QFrame;
    setRole(card, "card");
    auto *title = new QLabel(sample.title);
    setRole(title, "heading");
    auto *teaches = new QLabel(sample.teaches);
    teaches->setWordWrap(true);
    setRole(teaches, "muted");
    auto *file = new QLabel(QFileInfo(sample.path).fileName());
    setRole(file, "muted");
    auto *open = new QPushButton(tr("Open"));
    open->setAccessibleName(tr("Open sample %1").arg(sample.title));
    setRole(open, first ? "primary" : "");
    if (first) setFocusProxy(open);
    connect(open, &QPushButton::clicked, this, [this, path = sample.path] { emit fileChosen(path); });
    auto *row = new QHBoxLayout;
    row->addWidget(file, 1);
    row->addWidget(open);
    auto *column = new QVBoxLayout(card);
    column->setContentsMargins(16, 14, 16, 14);
    column->setSpacing(8);
    column->addWidget(title);
    column->addWidget(teaches, 1);
    column->addLayout(row);
    card->setMinimumHeight(150);
    return card;
}

void WelcomePage::setSamples(const std::vector<Sample> &samples)
{
    emptyLayout(cards_);
    for (std::size_t i = 0; i < samples.size(); ++i)
        cards_->addWidget(makeCard(samples[i], i == 0), 1);
    noSamples_->setVisible(samples.empty());
}

void WelcomePage::setRecentFiles(const QStringList &paths)
{
    emptyLayout(recent_);
    for (const QString &path : paths) {
        auto *button = new QPushButton(QFileInfo(path).fileName() + QStringLiteral("   –   ") +
                                       QFileInfo(path).absolutePath());
        button->setFlat(true);
        button->setStyleSheet(
            QStringLiteral("text-align: left; border: none; background: transparent; padding: 3px 0;"));
        button->setCursor(Qt::PointingHandCursor);
        connect(button, &QPushButton::clicked, this, [this, path] { emit fileChosen(path); });
        recent_->addWidget(button);
    }
    if (paths.isEmpty()) {
        auto *none = new QLabel(tr("Nothing yet: what you open is listed here."));
        setRole(none, "muted");
        recent_->addWidget(none);
    }
}

} // namespace kernelwright::ui
