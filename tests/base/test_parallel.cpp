// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/parallel.h"

#include <QTest>

#include <atomic>
#include <vector>

using namespace kernelwright;

class TestParallel : public QObject
{
    Q_OBJECT

private slots:
    void everyElementIsVisitedOnce_data()
    {
        QTest::addColumn<qlonglong>("count");
        QTest::newRow("none") << qlonglong{0};
        QTest::newRow("one") << qlonglong{1};
        QTest::newRow("a chunk") << qlonglong{parallelChunkSize};
        QTest::newRow("a chunk and one") << qlonglong{parallelChunkSize + 1};
        QTest::newRow("several chunks") << qlonglong{5 * parallelChunkSize - 3};
    }

    void everyElementIsVisitedOnce()
    {
        QFETCH(qlonglong, count);
        std::vector<std::uint8_t> visits(static_cast<std::size_t>(count), 0);
        std::atomic<std::int64_t> chunks{0};
        parallelChunks(count, [&](std::int64_t chunk, std::int64_t begin, std::int64_t end) {
            ++chunks;
            if (begin != chunk * parallelChunkSize) return;
            for (std::int64_t i = begin; i < end; ++i)
                ++visits[static_cast<std::size_t>(i)];
        });
        QCOMPARE(chunks.load(), parallelChunkCount(count));
        for (const std::uint8_t visit : visits)
            if (visit != 1) QFAIL("an element was left out or visited twice");
    }

    void aNegativeCountIsNoWork()
    {
        QCOMPARE(parallelChunkCount(-5), std::int64_t{0});
        parallelChunks(-5, [](std::int64_t, std::int64_t, std::int64_t) { QFAIL("there is nothing to do"); });
    }
};

QTEST_APPLESS_MAIN(TestParallel)
#include "test_parallel.moc"
