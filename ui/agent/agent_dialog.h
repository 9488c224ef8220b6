// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agent/llm/make_agent.h"

#include <QDialog>

#include <vector>

class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QLabel;
class QLineEdit;
class QPushButton;

namespace kernelwright::ui
{

/// Which agent proposes: playbook or a provider, its model, base URL, key and what it may spend. Knows
/// nothing of networks and keychains: whoever shows it lists the models and keeps the key.
class AgentDialog : public QDialog
{
    Q_OBJECT
public:
    AgentDialog(std::vector<Provider> providers, const AgentChoice &choice, double maximumCostUsd,
                QWidget *parent = nullptr);

    /// As it stands in the fields; the key is empty where none was typed.
    AgentChoice choice() const;
    double maximumCostUsd() const; ///< 0 = no limit
    bool keepsKey() const;         ///< the typed key is to go into the keychain

    void setModels(const QStringList &models);
    void setKeyOrigin(const QString &sentence); ///< "A key is in the environment (…)"
    void showSentence(const QString &sentence); ///< an error, or what to do next

signals:
    void modelsRequested();
    void providerChanged(); ///< provider or base URL: the key is another's now

private:
    void fillIn();
    const Provider *provider() const;

    std::vector<Provider> providers_;
    QComboBox *agent_, *model_, *protocol_;
    QLineEdit *baseUrl_, *key_;
    QCheckBox *keep_;
    QDoubleSpinBox *cost_;
    QPushButton *list_;
    QLabel *origin_, *sentence_;
};

} // namespace kernelwright::ui
