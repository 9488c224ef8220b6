// SPDX-License-Identifier: GPL-3.0-or-later
#include "agent_dialog.h"

#include "ui/models/display_text.h"
#include "ui/theme/empty_hint.h"

#include <QBoxLayout>
#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>

namespace kernelwright::ui
{

namespace
{
QLabel *note()
{
    auto *label = new QLabel;
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    setRole(label, "muted");
    return label;
}
} // namespace

AgentDialog::AgentDialog(std::vector<Provider> providers, const AgentChoice &choice, double maximumCostUsd,
                         QWidget *parent)
    : QDialog(parent)
    , providers_(std::move(providers))
    , agent_(new QComboBox)
    , model_(new QComboBox)
    , protocol_(new QComboBox)
    , baseUrl_(new QLineEdit)
    , key_(new QLineEdit)
    , keep_(new QCheckBox(tr("Keep it in the system's keychain")))
    , cost_(new QDoubleSpinBox)
    , list_(new QPushButton(tr("List")))
    , origin_(note())
    , sentence_(note())
{
    setWindowTitle(tr("Agent"));
    agent_->setObjectName(QStringLiteral("agent"));
    agent_->addItem(tr("Playbook: rules, no network, no cost"), QStringLiteral("playbook"));
    for (const Provider &each : providers_)
        agent_->addItem(fromText(each.title), fromText(each.name));
    model_->setObjectName(QStringLiteral("model"));
    model_->setEditable(true);
    model_->setInsertPolicy(QComboBox::NoInsert);
    list_->setToolTip(tr("Ask the endpoint which models it has"));
    for (const char *name : {"", "chat", "responses", "anthropic"})
        protocol_->addItem(*name ? QString::fromLatin1(name) : tr("as usual"), QString::fromLatin1(name));
    baseUrl_->setObjectName(QStringLiteral("baseUrl"));
    key_->setObjectName(QStringLiteral("key"));
    key_->setEchoMode(QLineEdit::Password);
    key_->setPlaceholderText(tr("only where another is wanted"));
    cost_->setObjectName(QStringLiteral("cost"));
    cost_->setPrefix(QStringLiteral("$"));
    cost_->setRange(0, 10000);
    cost_->setSpecialValueText(tr("no limit"));
    cost_->setValue(maximumCostUsd);
    sentence_->setObjectName(QStringLiteral("sentence"));

    auto *models = new QHBoxLayout;
    models->addWidget(model_, 1);
    models->addWidget(list_);
    auto *form = new QFormLayout;
    form->addRow(tr("Who proposes"), agent_);
    form->addRow(tr("Model"), models);
    form->addRow(tr("Base URL"), baseUrl_);
    form->addRow(tr("Protocol"), protocol_);
    form->addRow(tr("Key"), key_);
    form->addRow(QString(), keep_);
    form->addRow(QString(), origin_);
    form->addRow(tr("A search may cost"), cost_);
    auto *buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
    auto *column = new QVBoxLayout(this);
    column->addLayout(form);
    column->addWidget(sentence_);
    column->addStretch(1);
    column->addWidget(buttons);
    setMinimumWidth(480);

    agent_->setCurrentIndex(std::max(0, agent_->findData(fromText(choice.name))));
    fillIn();
    if (!choice.model.empty()) model_->setEditText(fromText(choice.model));
    baseUrl_->setText(fromText(choice.baseUrl));
    protocol_->setCurrentIndex(std::max(0, protocol_->findData(fromText(choice.protocol))));
    connect(agent_, &QComboBox::currentIndexChanged, this, [this] {
        baseUrl_->clear();
        fillIn();
        emit providerChanged();
    });
    connect(baseUrl_, &QLineEdit::editingFinished, this, &AgentDialog::providerChanged);
    connect(list_, &QPushButton::clicked, this, &AgentDialog::modelsRequested);
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
}

const Provider *AgentDialog::provider() const
{
    const std::string name = agent_->currentData().toString().toStdString();
    for (const Provider &each : providers_)
        if (each.name == name) return &each;
    return nullptr;
}

void AgentDialog::fillIn()
{
    const Provider *chosen = provider();
    for (QWidget *field :
         std::initializer_list<QWidget *>{model_, list_, baseUrl_, protocol_, key_, keep_, cost_})
        field->setEnabled(chosen != nullptr);
    model_->clear();
    key_->clear();
    sentence_->clear();
    if (!chosen) {
        baseUrl_->setPlaceholderText({});
        origin_->clear();
        return;
    }
    if (!chosen->defaultModel.empty()) model_->addItem(fromText(chosen->defaultModel));
    model_->lineEdit()->setPlaceholderText(tr("the only one there"));
    baseUrl_->setPlaceholderText(fromText(chosen->baseUrl));
}

AgentChoice AgentDialog::choice() const
{
    AgentChoice choice;
    choice.name = agent_->currentData().toString().toStdString();
    const Provider *chosen = provider();
    if (!chosen) return choice;
    const std::string model = model_->currentText().trimmed().toStdString();
    choice.baseUrl = baseUrl_->text().trimmed().toStdString();
    choice.model = choice.baseUrl.empty() && model == chosen->defaultModel ? std::string() : model;
    choice.protocol = protocol_->currentData().toString().toStdString();
    choice.key = Secret(key_->text().toStdString());
    return choice;
}

double AgentDialog::maximumCostUsd() const
{
    return cost_->value();
}

bool AgentDialog::keepsKey() const
{
    return keep_->isChecked() && !key_->text().trimmed().isEmpty();
}

void AgentDialog::setModels(const QStringList &models)
{
    const QString current = model_->currentText();
    model_->clear();
    model_->addItems(models);
    model_->setEditText(models.contains(current) || models.isEmpty() ? current : models.first());
    showSentence(models.isEmpty() ? tr("The endpoint has no models.")
                                  : tr("The endpoint has %1 models.").arg(models.size()));
}

void AgentDialog::setKeyOrigin(const QString &sentence)
{
    origin_->setText(sentence);
}

void AgentDialog::showSentence(const QString &sentence)
{
    sentence_->setText(sentence);
}

} // namespace kernelwright::ui
