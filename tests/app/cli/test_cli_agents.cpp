// SPDX-License-Identifier: GPL-3.0-or-later
// Language models from the command line, over a scripted endpoint on this machine, the real engine and the
// simulator.
#include "cli_fixture.h"
#include "server/recorded_streams.h"
#include "session/session.h"

#include <QDir>
#include <QFile>
#include <QTest>

using namespace kernelwright;
using namespace kernelwright::test;

namespace
{
const QByteArray keyText = "sk-test-never-written-down-0123456789";

const QString nodes = QStringLiteral("pow_1,mean,add,rsqrt,mul,mul_1");

/// The normalisation of the sample llama_block, right for any sizes and strides.
const QByteArray rightKernel = R"(//@ kernel rms_norm grid=(x_size1,x_size0) block=32
extern "C" __global__ void rms_norm(const float *x, const float *weight, float *mul_1, long long x_size2,
                                long long x_stride0, long long x_stride1, long long x_stride2,
                                long long weight_stride0, long long mul_1_stride0, long long mul_1_stride1,
                                long long mul_1_stride2)
{
    const float *row = x + blockIdx.y * x_stride0 + blockIdx.x * x_stride1;
    float *out = mul_1 + blockIdx.y * mul_1_stride0 + blockIdx.x * mul_1_stride1;
    double sum = 0;
    for (long long i = threadIdx.x; i < x_size2; i += 32) {
        const float value = row[i * x_stride2];
        sum += value * value;
    }
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, step);
    const float scale = rsqrtf((float)(sum / (double)x_size2) + 1e-6f);
    for (long long i = threadIdx.x; i < x_size2; i += 32)
        out[i * mul_1_stride2] = row[i * x_stride2] * scale * weight[i * weight_stride0];
}
)";
} // namespace

class TestCliAgents : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void init();

    void agentsAreListedWithWhereTheirKeysComeFrom();
    void theModelsOfAnEndpointAreListed();
    void theFirstPromptIsPrintedAndNothingSent();
    void aRightKernelAtTheSecondTryIsAccepted();
    void uselessRepliesAreIterationsWithoutCandidates();
    void aRefusedKeyIsToldAndWrittenNowhere();
    void aLimitOfCostsNeedsAPrice();

private:
    QStringList optimise(const QStringList &more = {}) const;
    void expectNoKey(const CliAnswer &answer) const;
    QByteArray allBytesWritten() const;

    QString sample_ = qEnvironmentVariable("KERNELWRIGHT_SOURCE") + "/resources/samples/llama_block.pt2";
    std::unique_ptr<ScriptedServer> server_;
    std::unique_ptr<CliFixture> cli_;
    Json json_;
};

void TestCliAgents::initTestCase()
{
    for (const char *variable : {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY",
                                 "ANTHROPIC_API_KEY", "DBUS_SESSION_BUS_ADDRESS"})
        qunsetenv(variable);
    qputenv("OPENAI_API_KEY", keyText);
    server_ = std::make_unique<ScriptedServer>();
}

void TestCliAgents::init()
{
    server_->clear();
    cli_ = std::make_unique<CliFixture>();
    cli_->usesRealEngine = true;
}

QStringList TestCliAgents::optimise(const QStringList &more) const
{
    return QStringList{"optimize",   sample_,
                       "--device",   "simt",
                       "--task",     nodes,
                       "--session",  "s.session",
                       "--agent",    "openai",
                       "--model",    "scripted-model",
                       "--base-url", QString::fromStdString(server_->url(""))} +
           more;
}

QByteArray TestCliAgents::allBytesWritten() const
{
    QByteArray bytes;
    for (const QString &name : cli_->filesWritten())
        bytes += cli_->read(name);
    return bytes;
}

void TestCliAgents::expectNoKey(const CliAnswer &answer) const
{
    QVERIFY(!answer.out.contains(keyText));
    QVERIFY(!answer.err.contains(keyText));
    QVERIFY(!allBytesWritten().contains(keyText));
}

void TestCliAgents::agentsAreListedWithWhereTheirKeysComeFrom()
{
    const CliAnswer answer = cli_->runForJson({"agents"}, json_);
    QCOMPARE(answer.status, 0);
    std::map<std::string, std::string> keys;
    for (const Json &agent : json_.at("agents"))
        keys[agent.at("name").get<std::string>()] = agent.at("key").get<std::string>();
    QCOMPARE(keys.at("playbook"), std::string("none needed"));
    QCOMPARE(keys.at("openai"), std::string("from the environment (OPENAI_API_KEY)"));
    QCOMPARE(keys.at("anthropic"), std::string("missing: set ANTHROPIC_API_KEY"));
    expectNoKey(answer);
}

void TestCliAgents::theModelsOfAnEndpointAreListed()
{
    server_->then(jsonAnswer(200, R"({"object":"list","data":[{"id":"gpt-6-luna"},{"id":"invented"}]})"));
    const CliAnswer answer = cli_->runForJson(
        {"agents", "--agent", "openai", "--base-url", QString::fromStdString(server_->url())}, json_);
    QVERIFY2(answer.status == 0, answer.err);
    QCOMPARE(server_->received().front().headers.at("authorization"), "Bearer " + keyText);
    QVERIFY(json_.at("models").at(0).at("output_price") == 0.5);
    QVERIFY(json_.at("models").at(1).at("output_price").is_null());
    expectNoKey(answer);
}

void TestCliAgents::theFirstPromptIsPrintedAndNothingSent()
{
    const CliAnswer answer = cli_->run(optimise({"--print-prompt"}));
    QVERIFY2(answer.status == 0, answer.err);
    for (const char *part :
         {"//@ kernel", "aten::rsqrt", "torch.rsqrt", "SIMT simulator", "Write the first candidate"})
        QVERIFY2(answer.out.contains(part), part);
    QCOMPARE(server_->count(), 0);
    expectNoKey(answer);
}

void TestCliAgents::aRightKernelAtTheSecondTryIsAccepted()
{
    server_
        ->then(streamAnswer(
            recordedStream("chat", "Here is what I would do: fuse everything.", "Let me think.")))
        .then(streamAnswer(recordedStream("chat", "HYPOTHESIS: one kernel reads each row once.\n\n```cuda\n" +
                                                      QString::fromUtf8(rightKernel) + "```\n")));
    const CliAnswer answer = cli_->runForJson(optimise({"--iterations", "1"}), json_);
    QVERIFY2(answer.status == 0, answer.err);
    QCOMPARE(server_->count(), 2);
    QCOMPARE(server_->received().front().path, QByteArray("/v1/chat/completions"));
    const Json iteration = json_.at("tasks").at(0).at("iterations").at(0);
    QVERIFY2(iteration.at("verdict") == "faster", answer.err);
    QVERIFY(iteration.at("accepted") == true);
    QVERIFY(iteration.at("author") == "scripted-model");
    QVERIFY(iteration.at("summary") == "one kernel reads each row once.");

    const auto session = Session::open(cli_->path("s.session"));
    QVERIFY(session);
    const auto candidates = (*session)->candidates();
    QVERIFY(candidates && candidates->size() == 1);
    QCOMPARE(QByteArray::fromStdString(candidates->front().source), rightKernel);
    QVERIFY(candidates->front().reasoning.starts_with("Let me think."));
    bool isPriceToldUnknown = false;
    for (const SessionEvent &event : *(*session)->events())
        isPriceToldUnknown |=
            event.kind == "note" && event.text.find("price that is not known") != std::string::npos;
    QVERIFY(isPriceToldUnknown);
    expectNoKey(answer);
}

void TestCliAgents::uselessRepliesAreIterationsWithoutCandidates()
{
    server_->then(streamAnswer(recordedStream("chat", "I cannot decide.")));
    const CliAnswer answer = cli_->runForJson(optimise({"--iterations", "2"}), json_);
    QCOMPARE(answer.status, 1);
    QCOMPARE(server_->count(), 4); // two iterations, each with one repair
    QVERIFY(json_.at("tasks").at(0).at("iterations").empty());
    const auto session = Session::open(cli_->path("s.session"));
    QVERIFY(session);
    int failures = 0, words = 0;
    for (const SessionEvent &event : *(*session)->events()) {
        failures += event.kind == "error" && event.text.find("no usable code") != std::string::npos;
        words += event.kind == "reasoning" && event.text.find("I cannot decide.") != std::string::npos;
    }
    QCOMPARE(failures, 2);
    QCOMPARE(words, 2);
    expectNoKey(answer);
}

void TestCliAgents::aRefusedKeyIsToldAndWrittenNowhere()
{
    server_->then(
        jsonAnswer(401, R"({"error":{"message":"Incorrect API key provided: )" + keyText + R"(."}})"));
    const CliAnswer answer = cli_->run(optimise({"--iterations", "1"}));
    QVERIFY(answer.status != 0);
    QVERIFY2(answer.err.contains("OPENAI_API_KEY"), answer.err);
    QVERIFY(answer.err.contains("Incorrect API key provided: [key]."));
    expectNoKey(answer);
}

void TestCliAgents::aLimitOfCostsNeedsAPrice()
{
    const CliAnswer answer = cli_->run({"optimize", sample_, "--agent", "openai", "--model", "invented",
                                        "--base-url", "https://192.0.2.1", "--max-cost", "1"});
    QCOMPARE(answer.status, 2);
    QVERIFY2(answer.err.contains("price of 'invented' is not known"), answer.err);
    QVERIFY(cli_->filesWritten().isEmpty());
}

QTEST_GUILESS_MAIN(TestCliAgents)
#include "test_cli_agents.moc"
