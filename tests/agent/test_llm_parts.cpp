// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of talking to language models that need no server: streams, secrets, addresses, keys, prices,
// replies.
#include "agent/llm/http/event_stream.h"
#include "agent/llm/http/url.h"
#include "agent/llm/make_agent.h"
#include "agent/llm/provider/model_table.h"
#include "agent/llm/provider/think_tags.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <sstream>

using namespace kernelwright;

namespace
{
bool holds(const std::string &text, const std::string &part)
{
    return text.find(part) != std::string::npos;
}

using Events = std::vector<std::pair<std::string, std::string>>;

/// The events of a stream fed in pieces.
Events eventsOf(const std::string &stream, std::size_t piece, std::size_t longest = 1 << 20)
{
    Events events;
    EventStreamParser parser(longest);
    for (std::size_t at = 0; at < stream.size(); at += piece) {
        const auto fed =
            parser.feed(std::string_view(stream).substr(at, piece), [&](const ServerSentEvent &event) {
                events.emplace_back(event.type, event.data);
                return Result<void>{};
            });
        if (!fed) events.emplace_back("!", fed.error().message);
    }
    if (const auto last = parser.unfinished()) events.emplace_back("~" + last->type, last->data);
    return events;
}

template <class T>
concept Streamable = requires(std::ostringstream &stream, const T &value)
{
    stream << value;
};
static_assert(!Streamable<Secret> && !std::is_convertible_v<Secret, std::string>,
              "a key cannot be printed or become a text by itself");
static_assert(!std::is_constructible_v<Json, Secret>, "a key cannot become JSON");
} // namespace

class TestLlmParts : public QObject
{
    Q_OBJECT

private slots:
    void streamsAreCutIntoEvents_data();
    void streamsAreCutIntoEvents();
    void longLinesAndEventsAreRefused();
    void aSecretIsTrimmedAndRedacted();
    void eventDataIsMended_data();
    void eventDataIsMended();
    void thoughtsBetweenTagsAreTold_data();
    void thoughtsBetweenTagsAreTold();
    void baseUrlsAreMadeUsable_data();
    void baseUrlsAreMadeUsable();
    void keysComeFromTheirPlaces();
    void choicesAreDecided();
    void badChoicesAreExplained_data();
    void badChoicesAreExplained();
    void costsFollowThePriceTable();
    void aPersonsOwnPricesCountMore();
};

void TestLlmParts::streamsAreCutIntoEvents_data()
{
    QTest::addColumn<QByteArray>("stream");
    QTest::addColumn<QByteArray>("expected"); // type|data, one a line; '/' for a line end in data
    QTest::newRow("one") << QByteArray("data: a\n\n") << QByteArray("|a\n");
    QTest::newRow("with a type") << QByteArray("event: t\ndata: a\n\n") << QByteArray("t|a\n");
    QTest::newRow("CRLF") << QByteArray("event: t\r\ndata: a\r\n\r\n") << QByteArray("t|a\n");
    QTest::newRow("CR") << QByteArray("event: t\rdata: a\r\rdata: b\r\r") << QByteArray("t|a\n|b\n");
    QTest::newRow("mixed ends") << QByteArray("data: a\r\n\ndata: b\n\r\n") << QByteArray("|a\n|b\n");
    QTest::newRow("several data lines") << QByteArray("data: a\ndata:\ndata: b\n\n") << QByteArray("|a//b\n");
    QTest::newRow("one blank is taken off")
        << QByteArray("data:  a\n\ndata:b\n\n") << QByteArray("| a\n|b\n");
    QTest::newRow("comments") << QByteArray(": hello\n\n:\ndata: a\n: in between\n\n") << QByteArray("|a\n");
    QTest::newRow("no data, no event") << QByteArray("event: t\n\ndata: a\n\n") << QByteArray("|a\n");
    QTest::newRow("empty data is data") << QByteArray("data\n\n") << QByteArray("|\n");
    QTest::newRow("other fields") << QByteArray("id: 1\nretry: 5\nnovel: x\ndata: a\n\n")
                                  << QByteArray("|a\n");
    QTest::newRow("byte order mark") << QByteArray("\xEF\xBB\xBF"
                                                   "data: a\n\n")
                                     << QByteArray("|a\n");
    QTest::newRow("UTF-8") << QByteArray("data: ½ 𝄞\n\n") << QByteArray("|½ 𝄞\n");
    QTest::newRow("no last line end")
        << QByteArray("data: a\n\nevent: t\ndata: b") << QByteArray("|a\n~t|b\n");
    QTest::newRow("no last empty line") << QByteArray("data: a\n") << QByteArray("~|a\n");
}

void TestLlmParts::streamsAreCutIntoEvents()
{
    QFETCH(QByteArray, stream);
    QFETCH(QByteArray, expected);
    for (const std::size_t piece : {1, 2, 3, 5, 1000}) {
        QByteArray seen;
        for (const auto &[type, data] : eventsOf(stream.toStdString(), piece))
            seen += QByteArray::fromStdString(type) + "|" +
                    QByteArray::fromStdString(data).replace("\n", "/") + "\n";
        QCOMPARE(seen, expected);
    }
}

void TestLlmParts::longLinesAndEventsAreRefused()
{
    const std::string line = "data: " + std::string(200, 'x') + "\n";
    QVERIFY(holds(eventsOf(line + "\n", 7, 100).front().second, "a line of more than"));
    QVERIFY(holds(eventsOf(line + line, 1000, 300).front().second, "an event of more than"));
    QCOMPARE(eventsOf(line + "\n", 7, 300).size(), std::size_t{1});
}

void TestLlmParts::aSecretIsTrimmedAndRedacted()
{
    const Secret key(" sk-abcdefgh12345 \n");
    QCOMPARE(key.reveal(), std::string("sk-abcdefgh12345"));
    QVERIFY(key.isUsable());
    QCOMPARE(key.redact("a sk-abcdefgh12345b sk-abcdefgh12345"), std::string("a [key]b [key]"));
    QVERIFY(!Secret("two words").isUsable());
    QVERIFY(!Secret("naïve-key").isUsable());
    QVERIFY(Secret(" \n").isEmpty());
    QCOMPARE(Secret("none").redact("none of it"),
             std::string("none of it")); // no key, but a word for servers without
    Secret moved(key);
    const Secret taken(std::move(moved));
    QCOMPARE(taken.reveal(), key.reveal());
    QVERIFY(moved.isEmpty()); // NOLINT: that is what is tested
}

void TestLlmParts::eventDataIsMended_data()
{
    QTest::addColumn<QByteArray>("data");
    QTest::addColumn<QByteArray>("text");
    QTest::newRow("good") << QByteArray(R"({"t":"½"})") << QByteArray("½");
    QTest::newRow("a pair of surrogates") << QByteArray(R"({"t":"\ud834\udd1e"})") << QByteArray("𝄞");
    QTest::newRow("half a pair") << QByteArray(R"({"t":"a\ud834"})") << QByteArray("a\xEF\xBF\xBD");
    QTest::newRow("the other half") << QByteArray(R"({"t":"\udd1eb"})")
                                    << QByteArray("\xEF\xBF\xBD"
                                                  "b");
    QTest::newRow("an escaped backslash")
        << QByteArray(R"({"t":"\\ud834 \ud834"})") << QByteArray("\\ud834 \xEF\xBF\xBD");
    QTest::newRow("bytes that are no UTF-8")
        << QByteArray("{\"t\":\"a\xC2\"}") << QByteArray("a\xEF\xBF\xBD");
}

void TestLlmParts::eventDataIsMended()
{
    QFETCH(QByteArray, data);
    QFETCH(QByteArray, text);
    const auto json = parseEventData(data.toStdString());
    QVERIFY(json);
    QCOMPARE(QByteArray::fromStdString(textField(*json, "t")), text);
    QVERIFY(!parseEventData("{\"t\": "));
}

void TestLlmParts::thoughtsBetweenTagsAreTold_data()
{
    QTest::addColumn<QByteArray>("stream");
    QTest::addColumn<QByteArray>("reasoning");
    QTest::addColumn<QByteArray>("text");
    QTest::newRow("none") << QByteArray("a < b") << QByteArray() << QByteArray("a < b");
    QTest::newRow("thought, then text")
        << QByteArray("\n<think>hm < m</think>yes") << QByteArray("hm < m") << QByteArray("yes");
    QTest::newRow("only a thought") << QByteArray("<think>hm") << QByteArray("hm") << QByteArray();
    QTest::newRow("a tag later is text")
        << QByteArray("x <think>hm</think>") << QByteArray() << QByteArray("x <think>hm</think>");
    QTest::newRow("almost a tag") << QByteArray("<thin") << QByteArray() << QByteArray("<thin");
}

void TestLlmParts::thoughtsBetweenTagsAreTold()
{
    QFETCH(QByteArray, stream);
    QFETCH(QByteArray, reasoning);
    QFETCH(QByteArray, text);
    for (const qsizetype piece : {1, 2, 3, 100}) {
        ThinkTags tags;
        std::string thought, said;
        const auto keep = [&](const ThinkTags::Pieces &pieces) {
            thought += pieces.reasoning;
            said += pieces.text;
        };
        for (qsizetype at = 0; at < stream.size(); at += piece)
            keep(tags.take(stream.mid(at, piece).toStdString()));
        keep(tags.end());
        QCOMPARE(QByteArray::fromStdString(thought), reasoning);
        QCOMPARE(QByteArray::fromStdString(said), text);
    }
}

void TestLlmParts::baseUrlsAreMadeUsable_data()
{
    QTest::addColumn<QString>("given");
    QTest::addColumn<QString>("protocol");
    QTest::addColumn<QString>("url"); // "" = refused
    QTest::newRow("as documented") << "https://api.openai.com/v1"
                                   << "chat"
                                   << "https://api.openai.com/v1";
    QTest::newRow("no path") << "http://localhost:8000"
                             << "chat"
                             << "http://localhost:8000/v1";
    QTest::newRow("a slash") << "http://localhost:8000/"
                             << "responses"
                             << "http://localhost:8000/v1";
    QTest::newRow("own path") << "https://host/api/v3/"
                              << "chat"
                              << "https://host/api/v3";
    QTest::newRow("a whole address") << "https://host/v1/chat/completions"
                                     << "chat"
                                     << "https://host/v1";
    QTest::newRow("Anthropic's") << "https://api.anthropic.com"
                                 << "anthropic"
                                 << "https://api.anthropic.com/v1";
    QTest::newRow("a gateway") << "https://host/anthropic"
                               << "anthropic"
                               << "https://host/anthropic/v1";
    QTest::newRow("upper case") << "HTTPS://HOST:443/v1"
                                << "chat"
                                << "https://host/v1";
    QTest::newRow("no scheme") << "localhost:8000"
                               << "chat"
                               << "";
    QTest::newRow("a file") << "file:///etc/passwd"
                            << "chat"
                            << "";
    QTest::newRow("a password in it") << "https://me:secret@host/v1"
                                      << "chat"
                                      << "";
    QTest::newRow("nothing") << ""
                             << "chat"
                             << "";
}

void TestLlmParts::baseUrlsAreMadeUsable()
{
    QFETCH(QString, given);
    QFETCH(QString, protocol);
    QFETCH(QString, url);
    const auto made = endpointUrl(given.toStdString(), protocol.toStdString());
    QCOMPARE(made.has_value(), !url.isEmpty());
    if (made) QCOMPARE(QString::fromStdString(*made), url);
}

void TestLlmParts::keysComeFromTheirPlaces()
{
    const Provider provider{"p", "P", "chat", "http://my-host:8000/v1", {"TEST_PROVIDER_KEY"}, true, ""};
    const KeyLookup keychain = [](const std::string &place) {
        return place == "my-host:8000" ? Secret("from-the-keychain") : Secret();
    };
    QCOMPARE(keyVariableOf(provider.baseUrl), std::string("KERNELWRIGHT_KEY_MY_HOST_8000"));
    QCOMPARE(findKey(provider, provider.baseUrl, {}).key.isEmpty(), true);
    QCOMPARE(findKey(provider, provider.baseUrl, keychain).origin, std::string("the keychain"));
    qputenv("TEST_PROVIDER_KEY", "from-the-provider");
    QCOMPARE(findKey(provider, provider.baseUrl, keychain).key.reveal(), std::string("from-the-provider"));
    qputenv("KERNELWRIGHT_KEY_MY_HOST_8000", "from-the-host");
    QCOMPARE(findKey(provider, provider.baseUrl, keychain).origin,
             std::string("the environment (KERNELWRIGHT_KEY_MY_HOST_8000)"));
    qunsetenv("TEST_PROVIDER_KEY");
    qunsetenv("KERNELWRIGHT_KEY_MY_HOST_8000");
}

void TestLlmParts::choicesAreDecided()
{
    const auto decide = [](AgentChoice choice) {
        choice.key = Secret("key-for-this-run");
        auto resolved = resolveChoice(choice);
        if (!resolved) qFatal("%s", resolved.error().message.c_str());
        return std::move(*resolved);
    };
    const ResolvedChoice openai = decide({.name = "openai"});
    QCOMPARE(openai.endpoint.protocol->name(), "responses");
    QCOMPARE(openai.endpoint.baseUrl, std::string("https://api.openai.com/v1"));
    QVERIFY(!openai.model.empty());
    QCOMPARE(openai.keyOrigin, std::string("this run"));
    const ResolvedChoice local = decide({.name = "openai", .baseUrl = "http://127.0.0.1:9"});
    QCOMPARE(local.endpoint.protocol->name(), "chat");
    QCOMPARE(local.model, std::string());
    QCOMPARE(decide({.name = "openai", .baseUrl = "http://127.0.0.1:9", .protocol = "responses"})
                 .endpoint.protocol->name(),
             "responses");
    QCOMPARE(decide({.name = "anthropic", .baseUrl = "http://127.0.0.1:9"}).endpoint.baseUrl,
             std::string("http://127.0.0.1:9/v1"));
    QVERIFY(resolveChoice({.name = "ollama"})); // without a key
    QVERIFY(makeAgent({}));
    QVERIFY(checkCostIsKnown({}));
    QVERIFY(checkCostIsKnown({.name = "anthropic"}));
    QVERIFY(!checkCostIsKnown({.name = "openai", .model = "invented", .baseUrl = "https://example.org"}));
    QVERIFY(checkCostIsKnown({.name = "openai", .model = "invented", .baseUrl = "http://localhost:1"}));
}

void TestLlmParts::badChoicesAreExplained_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("baseUrl");
    QTest::addColumn<QString>("protocol");
    QTest::addColumn<QString>("key");
    QTest::addColumn<QString>("words");
    QTest::newRow("nobody") << "nobody"
                            << ""
                            << ""
                            << ""
                            << "no agent called 'nobody'; there are playbook, anthropic";
    QTest::newRow("no key") << "anthropic"
                            << ""
                            << ""
                            << ""
                            << "set ANTHROPIC_API_KEY";
    QTest::newRow("no address") << "openai"
                                << "nowhere"
                                << ""
                                << ""
                                << "'nowhere'";
    QTest::newRow("no protocol") << "openai"
                                 << ""
                                 << "soap"
                                 << ""
                                 << "'soap'";
    QTest::newRow("a broken key") << "openai"
                                  << ""
                                  << ""
                                  << "half a key"
                                  << "copy it again";
}

void TestLlmParts::badChoicesAreExplained()
{
    QFETCH(QString, name);
    QFETCH(QString, baseUrl);
    QFETCH(QString, protocol);
    QFETCH(QString, key);
    QFETCH(QString, words);
    for (const char *variable : {"ANTHROPIC_API_KEY", "OPENAI_API_KEY"})
        qunsetenv(variable);
    const auto agent = makeAgent({.name = name.toStdString(),
                                  .baseUrl = baseUrl.toStdString(),
                                  .protocol = protocol.toStdString(),
                                  .key = Secret(key.toStdString())});
    QVERIFY(!agent);
    QCOMPARE(agent.error().code, ErrorCode::BadInput);
    QVERIFY2(holds(agent.error().message, words.toStdString()), agent.error().message.c_str());
    QVERIFY(key.isEmpty() || !holds(agent.error().message, key.toStdString()));
}

void TestLlmParts::costsFollowThePriceTable()
{
    const auto table = ModelTable::read(
        {qEnvironmentVariable("KERNELWRIGHT_RESOURCES").toStdString() + "/agents/models.json"});
    QVERIFY2(table, table ? "" : table.error().message.c_str());
    TokenCount tokens;
    tokens.input = 1'000'000;
    tokens.cacheRead = 500'000;
    tokens.cacheWrite = 100'000;
    tokens.output = 100'000;
    // 0.4 M plain at 4, 0.5 M cached at 0.2, 0.1 M written at 5, 0.1 M output at 20 dollars per million
    QCOMPARE(*table->cost("claude-opus-5-5-20260922", tokens), 1.6 + 0.1 + 0.5 + 2.0);
    QCOMPARE(*table->cost("anthropic/claude-opus-5.5", tokens), 4.2);
    QVERIFY(table->find("claude-opus-5-9")->match == "claude-opus-5");
    QVERIFY(!table->cost("a-model-nobody-knows", tokens));
    tokens.costUsd = 0.25; // the endpoint's own word
    QCOMPARE(*table->cost("a-model-nobody-knows", tokens), 0.25);
}

void TestLlmParts::aPersonsOwnPricesCountMore()
{
    const QTemporaryDir folder;
    const auto write = [&](const QString &name, const QByteArray &text) {
        QFile out(folder.filePath(name));
        if (!out.open(QIODevice::WriteOnly)) qFatal("cannot write");
        out.write(text);
        return std::filesystem::path(folder.filePath(name).toStdString());
    };
    const auto shipped = write("a.json", R"({"models":[{"match":"m","input":1,"output":1}]})");
    const auto own = write("b.json", R"({"models":[{"match":"m","input":3,"output":1}]})");
    TokenCount tokens;
    tokens.input = 1'000'000;
    QCOMPARE(*ModelTable::read({shipped, own})->cost("m-1", tokens), 3.0);
    QCOMPARE(*ModelTable::read({shipped, "/no/such/file"})->cost("m-1", tokens), 1.0);
    const auto bad = ModelTable::read(
        {write("c.json", R"({"models":[{"match":"m"},{"match":"n","input":-1,"output":1}]})")});
    QVERIFY(!bad);
    QVERIFY(holds(bad.error().message, "c.json', models[1]: 'input'"));
    QVERIFY(!ModelTable::read({write("d.json", "{")}));
}

QTEST_APPLESS_MAIN(TestLlmParts)
#include "test_llm_parts.moc"
