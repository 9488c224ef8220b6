// SPDX-License-Identifier: GPL-3.0-or-later
// Symbolic sizes: their expressions, and inputs checked against them.
#include "engine/reference/input_checks.h"
#include "graph_builder.h"

#include <QTest>

using namespace kernelwright;

namespace
{

/// x is [s0, 4], y is [2*s0].
OperatorGraph dynamicGraph()
{
    GraphBuilder builder;
    TensorType x = contiguousType(DType::Float32, {2, 4});
    x.symbols = {"s0", ""};
    TensorType y = contiguousType(DType::Float32, {4});
    y.symbols = {"2*s0"};
    builder.input("x", x);
    builder.input("y", y);
    builder.graph.symbols["s0"] = {2, 8, 2};
    return builder.returning({0});
}

HostTensor zeros(const std::vector<std::int64_t> &sizes)
{
    return makeHostTensor(DType::Float32, sizes);
}

} // namespace

class SymbolsTest : public QObject
{
    Q_OBJECT

private slots:
    void expressionsMeanWhatPythonMeans_data()
    {
        QTest::addColumn<QString>("expression");
        QTest::addColumn<qint64>("value");
        QTest::newRow("symbol") << "s0" << qint64(7);
        QTest::newRow("precedence") << "1 + 2*s0" << qint64(15);
        QTest::newRow("parentheses") << "(1 + 2)*s0" << qint64(21);
        QTest::newRow("floor of a positive quotient") << "s0//2" << qint64(3);
        QTest::newRow("floor of a negative quotient") << "-s0//2" << qint64(-4);
        QTest::newRow("remainder of a negative number") << "(0 - s0) % 4" << qint64(1);
        QTest::newRow("power") << "2**3*s0" << qint64(56);
        QTest::newRow("maximum") << "max(1, s0, u1)" << qint64(100);
        QTest::newRow("minimum") << "Min(s0 - 10, u1)" << qint64(-3);
        QTest::newRow("from the left") << "u1 - s0 - 1" << qint64(92);
    }

    void expressionsMeanWhatPythonMeans()
    {
        QFETCH(QString, expression);
        QFETCH(qint64, value);
        const auto result = evaluateSymbols(expression.toStdString(), {{"s0", 7}, {"u1", 100}});
        QVERIFY(result);
        QCOMPARE(*result, value);
    }

    void whatIsNoExpressionHasNoValue_data()
    {
        QTest::addColumn<QString>("expression");
        for (const char *expression :
             {"", "s1", "s0 +", "(s0", "s0)", "s0//0", "s0 % 0", "2**99", "3.5", "s0 s0", "max(",
              "9223372036854775807 + 1", "99999999999999999999", "Piecewise(s0)"})
            QTest::newRow(expression) << expression;
        QTest::newRow("absurdly deep") << QString("(").repeated(100000);
        QTest::newRow("absurdly negative") << QString("-").repeated(100000) + "1";
    }

    void whatIsNoExpressionHasNoValue()
    {
        QFETCH(QString, expression);
        QVERIFY(!evaluateSymbols(expression.toStdString(), {{"s0", 7}}));
    }

    void sizesBindTheirSymbols()
    {
        const Result<SymbolValues> symbols = checkInputs(dynamicGraph(), {zeros({5, 4}), zeros({10})}, false);
        QVERIFY2(symbols, symbols ? "" : symbols.error().message.c_str());
        QCOMPARE(symbols->at("s0"), std::int64_t(5));
    }

    void sizesOutsideTheirBoundsAreRefused_data()
    {
        QTest::addColumn<qint64>("rows");
        QTest::addColumn<qint64>("length");
        QTest::addColumn<QString>("says");
        QTest::newRow("too small") << qint64(1) << qint64(2) << "s0 must be at least 2 and at most 8";
        QTest::newRow("too large") << qint64(9) << qint64(18) << "s0 must be at least 2 and at most 8";
        QTest::newRow("expression") << qint64(3) << qint64(7) << "must be 2*s0 = 6";
    }

    void sizesOutsideTheirBoundsAreRefused()
    {
        QFETCH(qint64, rows);
        QFETCH(qint64, length);
        QFETCH(QString, says);
        const Result<SymbolValues> symbols =
            checkInputs(dynamicGraph(), {zeros({rows, 4}), zeros({length})}, false);
        QVERIFY(!symbols);
        QVERIFY2(QString::fromStdString(symbols.error().message).contains(says),
                 symbols.error().message.c_str());
    }

    void oneSymbolHasOneSize()
    {
        OperatorGraph graph = dynamicGraph();
        graph.values[1].type.symbols = {"s0"};
        QVERIFY(checkInputs(graph, {zeros({4, 4}), zeros({4})}, false));
        const Result<SymbolValues> symbols = checkInputs(graph, {zeros({4, 4}), zeros({5})}, false);
        QVERIFY(!symbols);
        QVERIFY(QString::fromStdString(symbols.error().message).contains("s0 cannot be both 4 and 5"));
    }
};

QTEST_GUILESS_MAIN(SymbolsTest)
#include "symbols_test.moc"
