// SPDX-License-Identifier: GPL-3.0-or-later
// Choosing who proposes, giving it a key, and reading its prompt before it is sent.
#include "bench.h"
#include "ui/agent/agent_dialog.h"
#include "ui/agent/prompt_window.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QDoubleSpinBox>
#include <QLineEdit>
#include <QPlainTextEdit>

using namespace kernelwright;
using namespace kernelwright::test;

namespace
{
const QString keyText = QStringLiteral("sk-test-never-written-down");

void choose(AgentDialog &dialog, const QString &agent)
{
    auto *box = dialog.findChild<QComboBox *>(QStringLiteral("agent"));
    box->setCurrentIndex(box->findData(agent));
}

AgentDialog *openDialog(Bench &bench)
{
    bench.window.actions().find(QStringLiteral("search.agent"))->trigger();
    return bench.window.findChild<AgentDialog *>();
}
} // namespace

class TestAgentChoice : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void aLanguageModelIsChosenAndItsKeyIsNotStored();
    void withoutAKeyTheFirstClickAsksForOne();
    void thePromptIsReadEditedAndSent();
    void whatItCostsIsShown();
};

void TestAgentChoice::initTestCase()
{
    for (const char *variable : {"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "DBUS_SESSION_BUS_ADDRESS"})
        qunsetenv(variable);
}

void TestAgentChoice::aLanguageModelIsChosenAndItsKeyIsNotStored()
{
    Bench bench;
    bench.open();
    AgentDialog *dialog = openDialog(bench);
    QVERIFY(dialog);
    QVERIFY(!dialog->findChild<QLineEdit *>(QStringLiteral("key"))->isEnabled()); // the playbook needs none
    choose(*dialog, QStringLiteral("openai"));
    auto *key = dialog->findChild<QLineEdit *>(QStringLiteral("key"));
    QCOMPARE(key->echoMode(), QLineEdit::Password);
    key->setText(keyText);
    dialog->findChild<QComboBox *>(QStringLiteral("model"))->setEditText(QStringLiteral("gpt-6-luna"));
    dialog->findChild<QDoubleSpinBox *>(QStringLiteral("cost"))->setValue(2.5);
    dialog->accept();
    QCOMPARE(bench.backend.agent.name, std::string("openai"));
    QCOMPARE(bench.backend.agent.model, std::string("gpt-6-luna"));
    bench.button("search.run")->click();
    QCOMPARE(QString::fromStdString(bench.backend.agent.key.reveal()), keyText);

    bench.settings.sync();
    QFile settings(bench.settings.fileName());
    QVERIFY(settings.open(QIODevice::ReadOnly));
    const QByteArray stored = settings.readAll();
    QVERIFY(stored.contains("gpt-6-luna"));
    QVERIFY(!stored.contains(keyText.toUtf8()));
}

void TestAgentChoice::withoutAKeyTheFirstClickAsksForOne()
{
    Bench bench;
    bench.open();
    AgentDialog *dialog = openDialog(bench);
    choose(*dialog, QStringLiteral("anthropic"));
    dialog->accept();
    QTRY_VERIFY(!bench.window.findChild<AgentDialog *>());
    bench.button("search.run")->click();
    QCOMPARE(bench.backend.job(), Job::None);
    dialog = bench.window.findChild<AgentDialog *>();
    QVERIFY(dialog);
    QVERIFY(dialog->findChild<QLabel *>(QStringLiteral("sentence"))
                ->text()
                .contains(QStringLiteral("ANTHROPIC_API_KEY")));
}

void TestAgentChoice::thePromptIsReadEditedAndSent()
{
    Bench bench;
    bench.open();
    bench.searchToTheEnd();
    bench.window.actions().find(QStringLiteral("search.showPrompt"))->trigger();
    QTRY_VERIFY(bench.window.findChild<PromptWindow *>());
    auto *window = bench.window.findChild<PromptWindow *>();
    QCOMPARE(window->findChild<QPlainTextEdit *>(QStringLiteral("system"))->toPlainText(),
             QStringLiteral("the system"));
    window->findChild<QPlainTextEdit *>(QStringLiteral("step"))->setPlainText(QStringLiteral("another step"));
    window->findChild<QPushButton *>(QStringLiteral("send"))->click();
    QVERIFY(bench.backend.calls.contains(QStringLiteral("edited prompt: another step")));
    QTRY_COMPARE(bench.workbench.candidates().all().size(), 5U);
}

void TestAgentChoice::whatItCostsIsShown()
{
    Bench bench;
    bench.open();
    const auto shows = [&](const QString &text) {
        for (const QLabel *label : bench.window.agent->findChildren<QLabel *>())
            if (label->text().contains(text)) return true;
        return false;
    };
    Usage usage;
    usage.inputTokens = 12000;
    usage.outputTokens = 345;
    usage.costUsd = 0.25;
    emit bench.backend.spent(usage);
    QVERIFY(shows(QStringLiteral("12.3 k tokens, $0.25")));
    usage.isCostKnown = false;
    emit bench.backend.spent(usage);
    QVERIFY(shows(QStringLiteral("price not known")));
}

QTEST_MAIN(TestAgentChoice)
#include "test_agent_choice.moc"
