// SPDX-License-Identifier: GPL-3.0-or-later
// Every operator of the cost model's table against operator_costs.txt, where its bytes and operations are
// worked out by hand.
#include "base/text.h"
#include "graph/cost_model.h"
#include "graph/operator_class.h"
#include "graph_text.h"

#include <QFile>
#include <QtTest>

#include <regex>
#include <set>

using namespace kernelwright;

namespace
{
/// "32*4 + 8" → 136.
double sumOfProducts(const std::string &text)
{
    double sum = 0;
    for (const std::string &term : splitText(text, '+')) {
        double product = 1;
        for (const std::string &factor : splitText(term, '*'))
            product *= std::stod(trimText(factor));
        sum += product;
    }
    return sum;
}

/// A case as a graph of one node `y`: each type among the arguments becomes an input.
class CaseText
{
public:
    QString graphOf(const std::string &op, const std::string &arguments, const std::string &outputs)
    {
        const std::string call = readArguments(arguments);
        std::string names = "y";
        for (int depth = 0, i = 1; const char c : outputs) {
            depth += c == '[' ? 1 : c == ']' ? -1 : 0;
            if (c == ',' && depth == 0) names.append(", y").append(std::to_string(i++));
        }
        return QString::fromStdString(inputs_ + names + " = " + op + "(" + call + ") -> " + outputs +
                                      "\noutput " + names + "\n");
    }

private:
    /// Word by word: "self=float32[4,8] strides [1,4]" → "self=%self", "@self" → "%self".
    std::string readArguments(const std::string &text)
    {

        static const std::regex word(
            R"((?:float|bfloat|int|uint|complex)\d+(?:_\w+)?\[[\d,]*\](?: strides \[[\d,]*\])?|bool\[[\d,]*\]|@\w+)");
        std::string result;
        std::size_t at = 0;
        for (std::sregex_iterator it(text.begin(), text.end(), word), end; it != end; ++it) {
            result += text.substr(at, static_cast<std::size_t>(it->position()) - at);
            at = static_cast<std::size_t>(it->position() + it->length());
            if (it->str().front() == '@') {
                result += "%" + it->str().substr(1);
                continue;
            }
            const std::string name = nameBefore(result);
            inputs_ += "input " + name + " " + it->str() + "\n";
            result += "%" + name;
        }
        return result + text.substr(at);
    }

    /// The name of the argument that the text ends with; those in lists are numbered.
    std::string nameBefore(const std::string &text)
    {
        const std::size_t equals = text.rfind('=');
        const std::size_t start = text.find_last_of(" ,(", equals) + 1;
        std::string name = text.substr(start, equals - start);
        if (!names_.insert(name).second) name += "_" + std::to_string(names_.size());
        names_.insert(name);
        return name;
    }

    std::string inputs_;
    std::set<std::string> names_;
};

/// "aten::{a, b.Tensor}" → "aten::a", "aten::b.Tensor".
std::vector<std::string> operatorsOf(const std::string &text)
{
    const std::size_t open = text.find('{');
    if (open == std::string::npos) return {text};
    std::vector<std::string> all;
    for (const std::string &name : splitText(text.substr(open + 1, text.find('}') - open - 1), ','))
        all.push_back(text.substr(0, open) + trimText(name));
    return all;
}
} // namespace

class TestOperatorCosts : public QObject
{
    Q_OBJECT

private slots:
    void countsWhatAHandCounts_data();
    void countsWhatAHandCounts();
    void everyOperatorOfTheTableHasACase();

private:
    void readLine(const std::string &line, int number);
    std::set<std::string> covered_; ///< bare names, without overloads
};

void TestOperatorCosts::readLine(const std::string &line, int number)
{
    const std::size_t open = line.find('('), arrow = line.find(" -> "), colon = line.rfind(" : ");
    QVERIFY2(open < arrow && arrow < colon && colon != std::string::npos, line.c_str());
    const std::size_t close = line.rfind(')', arrow);
    const std::vector<std::string> numbers = splitText(line.substr(colon + 3), ';');
    QVERIFY2(numbers.size() == 3, line.c_str());
    for (const std::string &op : operatorsOf(line.substr(0, open))) {
        const std::string bare = op.substr(0, op.find('.', op.find("::")));
        covered_.insert(bare);
        if (isInPlaceOperator(bare)) covered_.insert(bare.substr(0, bare.size() - 1));
        QTest::addRow("line %d %s", number, op.c_str())
            << CaseText().graphOf(op, line.substr(open + 1, close - open - 1),
                                  line.substr(arrow + 4, colon - arrow - 4))
            << sumOfProducts(numbers[0]) << sumOfProducts(numbers[1]) << sumOfProducts(numbers[2]);
    }
}

void TestOperatorCosts::countsWhatAHandCounts_data()
{
    QTest::addColumn<QString>("graph");
    QTest::addColumn<double>("read");
    QTest::addColumn<double>("written");
    QTest::addColumn<double>("operations");
    QFile file(QString(qgetenv("KERNELWRIGHT_SOURCE")) + "/tests/graph/operator_costs.txt");
    QVERIFY2(file.open(QIODevice::ReadOnly), qPrintable(file.fileName()));
    for (int number = 1; !file.atEnd(); ++number) {
        const std::string line = trimText(file.readLine().toStdString());
        if (!line.empty() && line.front() != '#') readLine(line, number);
    }
}

void TestOperatorCosts::countsWhatAHandCounts()
{
    QFETCH(QString, graph);
    QFETCH(double, read);
    QFETCH(double, written);
    QFETCH(double, operations);
    const OperatorGraph built = graphFromText(graph.toStdString());
    const std::optional<Cost> cost = nodeCost(built, built.nodes.front());
    QVERIFY2(cost.has_value(), qPrintable(graph));
    QCOMPARE(cost->bytesRead, read);
    QCOMPARE(cost->bytesWritten, written);
    QCOMPARE(cost->flops, operations);
}

void TestOperatorCosts::everyOperatorOfTheTableHasACase()
{
    QStringList missing;
    std::size_t withCase = 0;
    for (const std::string &op : operatorsWithTraits()) {
        if (operatorTraits(op).kind == OperatorClass::Check) continue; // free: see test_cost_model
        if (covered_.contains(op))
            ++withCase;
        else
            missing << QString::fromStdString(op);
    }
    QVERIFY2(missing.isEmpty(), qPrintable(missing.join(' ')));
    QVERIFY(withCase >= 120);
    qInfo("%zu operators", withCase);
}

QTEST_APPLESS_MAIN(TestOperatorCosts)
#include "test_operator_costs.moc"
