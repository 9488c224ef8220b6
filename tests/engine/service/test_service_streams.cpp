// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/service_streams.h"

#include <QTemporaryFile>
#include <QTest>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace kernelwright;

namespace
{
struct Pipe
{
    FileDescriptor readEnd, writeEnd;
    Pipe()
    {
        std::array<int, 2> ends{};
        if (::pipe(ends.data()) != 0) std::abort();
        readEnd = FileDescriptor(ends[0]);
        writeEnd = FileDescriptor(ends[1]);
    }
};

std::string readAll(int descriptor)
{
    std::string all;
    std::array<char, 4096> block;
    for (ssize_t count; (count = ::read(descriptor, block.data(), block.size())) > 0;)
        all.append(block.data(), static_cast<std::size_t>(count));
    return all;
}

/// What a child does with its standard streams, as seen from both of its outputs.
struct ChildOutput
{
    std::string output, errors;
    int status = -1;
};

template <class Body>
ChildOutput inChild(Body body)
{
    Pipe output, errors;
    const pid_t child = ::fork();
    if (child == 0) {
        ::dup2(output.writeEnd.number(), STDOUT_FILENO);
        ::dup2(errors.writeEnd.number(), STDERR_FILENO);
        for (Pipe *pipe : {&output, &errors}) {
            pipe->readEnd.close();
            pipe->writeEnd.close();
        }
        std::_Exit(body());
    }
    output.writeEnd.close();
    errors.writeEnd.close();
    ChildOutput seen;
    seen.output = readAll(output.readEnd.number());
    seen.errors = readAll(errors.readEnd.number());
    ::waitpid(child, &seen.status, 0);
    return seen;
}
} // namespace

class TestServiceStreams : public QObject
{
    Q_OBJECT

private slots:
    void linesComeAsTheyWereSent();
    void aLineOfExactlyTheLimitIsTaken();
    void aLineOverTheLimitIsSaidOnceAndSkipped_data();
    void aLineOverTheLimitIsSaidOnceAndSkipped();
    void anUnfinishedLastLineIsDropped();
    void whatLibrariesPrintGoesToStandardError();
    void childrenFindAnEmptyStandardInput();
    void aProgramStartedWithoutStandardErrorKeepsItsProtocolClean();
};

void TestServiceStreams::linesComeAsTheyWereSent()
{
    Pipe pipe;
    QVERIFY(LineWriter(pipe.writeEnd.number()).write("one\n\ntwo\r\nthree\n"));
    pipe.writeEnd.close();
    LineReader reader(pipe.readEnd.number(), 100);
    std::vector<std::string> lines;
    for (std::string line; reader.next(line) == LineReader::Kind::Line;)
        lines.push_back(line);
    QCOMPARE(lines, (std::vector<std::string>{"one", "", "two\r", "three"}));
}

void TestServiceStreams::aLineOfExactlyTheLimitIsTaken()
{
    Pipe pipe;
    QVERIFY(LineWriter(pipe.writeEnd.number()).write("12345\n123456\n"));
    pipe.writeEnd.close();
    LineReader reader(pipe.readEnd.number(), 5);
    std::string line;
    QVERIFY(reader.next(line) == LineReader::Kind::Line);
    QCOMPARE(line, std::string("12345"));
    QVERIFY(reader.next(line) == LineReader::Kind::TooLong);
    QVERIFY(reader.next(line) == LineReader::Kind::End);
}

void TestServiceStreams::aLineOverTheLimitIsSaidOnceAndSkipped_data()
{
    QTest::addColumn<int>("length");
    QTest::newRow("within one read") << 50;
    QTest::newRow("within two reads") << 70000;
    QTest::newRow("many reads") << 1000000;
}

void TestServiceStreams::aLineOverTheLimitIsSaidOnceAndSkipped()
{
    QFETCH(int, length);
    QTemporaryFile file;
    QVERIFY(file.open());
    QVERIFY(file.write(QByteArray(length, 'x') + "\nnext\n" + QByteArray(length, 'y')) > 0);
    QVERIFY(file.seek(0));
    LineReader reader(file.handle(), 20);
    std::string line;
    QVERIFY(reader.next(line) == LineReader::Kind::TooLong);
    QVERIFY(reader.next(line) == LineReader::Kind::Line);
    QCOMPARE(line, std::string("next"));
    QVERIFY(reader.next(line) == LineReader::Kind::TooLong);
    QVERIFY(reader.next(line) == LineReader::Kind::End);
}

void TestServiceStreams::anUnfinishedLastLineIsDropped()
{
    Pipe pipe;
    QVERIFY(LineWriter(pipe.writeEnd.number()).write("whole\nhalf"));
    pipe.writeEnd.close();
    LineReader reader(pipe.readEnd.number(), 100);
    std::string line;
    QVERIFY(reader.next(line) == LineReader::Kind::Line);
    QVERIFY(reader.next(line) == LineReader::Kind::End);
}

void TestServiceStreams::whatLibrariesPrintGoesToStandardError()
{
    const ChildOutput seen = inChild([] {
        const Result<ProtocolStreams> streams = takeStandardStreams();
        if (!streams) return 1;
        std::printf("a library's chatter\n");
        std::fflush(stdout);
        return LineWriter(streams->output.number()).write("{}\n") ? 0 : 2;
    });
    QCOMPARE(seen.status, 0);
    QCOMPARE(seen.output, std::string("{}\n"));
    QCOMPARE(seen.errors, std::string("a library's chatter\n"));
}

void TestServiceStreams::childrenFindAnEmptyStandardInput()
{
    const ChildOutput seen = inChild([] {
        const Result<ProtocolStreams> streams = takeStandardStreams();
        char c = 0;
        return streams && ::read(STDIN_FILENO, &c, 1) == 0 ? 0 : 1;
    });
    QCOMPARE(seen.status, 0);
}

void TestServiceStreams::aProgramStartedWithoutStandardErrorKeepsItsProtocolClean()
{
    const ChildOutput seen = inChild([] {
        ::close(STDERR_FILENO);
        const Result<ProtocolStreams> streams = takeStandardStreams();
        if (!streams || streams->input.number() == STDERR_FILENO || streams->output.number() == STDERR_FILENO)
            return 1;
        std::fputs("lost\n", stderr);
        return LineWriter(streams->output.number()).write("{}\n") ? 0 : 2;
    });
    QCOMPARE(seen.status, 0);
    QCOMPARE(seen.output, std::string("{}\n"));
}

QTEST_GUILESS_MAIN(TestServiceStreams)
#include "test_service_streams.moc"
