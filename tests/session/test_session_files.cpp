// SPDX-License-Identifier: GPL-3.0-or-later
// Files that are no sessions, damaged ones, ones in use and disks that refuse: a sentence each, and nothing
// is harmed.
#include "session_fixtures.h"

#include <QCoreApplication>
#include <QFile>
#include <QProcess>
#include <QSqlDatabase>
#include <QSqlQuery>
#include <QTest>

#include <csignal>
#include <sys/resource.h>
#include <unistd.h>

using namespace kernelwright;
using namespace kernelwright::test;

class TestSessionFiles : public QObject
{
    Q_OBJECT

private slots:
    void init() { folder_ = std::make_unique<QTemporaryDir>(); }

    void whatIsNoSessionIsRefused_data();
    void whatIsNoSessionIsRefused();
    void anotherProgramsDatabaseIsRefusedAndLeftAlone();
    void aNewerSchemaIsRefused();
    void aTruncatedSessionIsRefused();
    void damageInTheMiddleIsAnErrorNotACrash();
    void aMissingFolderIsNamed();
    void aFolderIsRefused();
    void anEmptyNameIsRefused();
    void aReadOnlyFileIsRefused();
    void theSameFileTwiceInOneProgramIsRefused();
    void anotherNameOfTheSameFileIsRefused();
    void anotherProgramHoldsIt();
    void theLockOfADeadProgramIsTakenOver();
    void killingTheProgramLosesNothingThatWasStored();
    void aFullDiskIsASentenceAndWhatWasStoredIsSafe();

private:
    QString file(const QString &name = "a.session") const { return folder_->filePath(name); }
    QByteArray contents(const QString &path) const;
    void write(const QString &path, const QByteArray &bytes) const;
    void makeSession(const QString &path, int candidates) const;
    std::unique_ptr<QTemporaryDir> folder_;
};

QByteArray TestSessionFiles::contents(const QString &path) const
{
    QFile opened(path);
    return opened.open(QIODevice::ReadOnly) ? opened.readAll() : QByteArray();
}

void TestSessionFiles::write(const QString &path, const QByteArray &bytes) const
{
    QFile opened(path);
    QVERIFY(opened.open(QIODevice::WriteOnly));
    QCOMPARE(opened.write(bytes), bytes.size());
}

void TestSessionFiles::makeSession(const QString &path, int candidates) const
{
    const auto session = openOrDie(path);
    QVERIFY(session->putTask(smallTask("t")));
    for (int i = 0; i < candidates; ++i)
        QVERIFY(session->addCandidate(candidateFor("t", std::string(3000, 'a'))));
}

void TestSessionFiles::whatIsNoSessionIsRefused_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::newRow("text") << QByteArray("hello\n");
    QTest::newRow("one byte") << QByteArray("S");
    QTest::newRow("a zip") << QByteArray("PK\x03\x04") + QByteArray(500, 'z');
    QTest::newRow("SQLite's first line alone") << QByteArray("SQLite format 3", 16);
    QTest::newRow("SQLite's first line and rubbish")
        << QByteArray("SQLite format 3", 16) + QByteArray(5000, '\x7f');
}

void TestSessionFiles::whatIsNoSessionIsRefused()
{
    QFETCH(QByteArray, bytes);
    write(file(), bytes);
    const auto session = Session::open(file());
    QVERIFY(!session);
    QCOMPARE(session.error().code, ErrorCode::BadInput);
    QVERIFY2(session.error().message.find("not a Kernelwright session") != std::string::npos,
             session.error().message.c_str());
    QVERIFY(session.error().message.find(file().toStdString()) != std::string::npos);
    QCOMPARE(contents(file()), bytes);
    QVERIFY(!QFile::exists(file() + ".lock"));
}

void TestSessionFiles::anotherProgramsDatabaseIsRefusedAndLeftAlone()
{
    {
        QSqlDatabase database = QSqlDatabase::addDatabase("QSQLITE", "foreign");
        database.setDatabaseName(file());
        QVERIFY(database.open());
        QVERIFY(QSqlQuery(database).exec("CREATE TABLE candidate (id INTEGER)"));
    }
    QSqlDatabase::removeDatabase("foreign");
    const QByteArray before = contents(file());
    const auto session = Session::open(file());
    QVERIFY(!session);
    QCOMPARE(session.error().code, ErrorCode::BadInput);
    QVERIFY(session.error().message.find("of another program") != std::string::npos);
    QCOMPARE(contents(file()), before);
}

void TestSessionFiles::aNewerSchemaIsRefused()
{
    makeSession(file(), 1);
    {
        QSqlDatabase database = QSqlDatabase::addDatabase("QSQLITE", "newer");
        database.setDatabaseName(file());
        QVERIFY(database.open());
        QVERIFY(QSqlQuery(database).exec("PRAGMA user_version = 99"));
    }
    QSqlDatabase::removeDatabase("newer");
    const auto session = Session::open(file());
    QVERIFY(!session);
    QCOMPARE(session.error().code, ErrorCode::BadInput);
    QVERIFY2(session.error().message.find("newer Kernelwright (schema 99") != std::string::npos,
             session.error().message.c_str());
}

void TestSessionFiles::aTruncatedSessionIsRefused()
{
    makeSession(file(), 50);
    const QByteArray whole = contents(file());
    QVERIFY(whole.size() > 20000);
    QVERIFY(QFile::resize(file(), whole.size() / 2));
    const auto session = Session::open(file());
    QVERIFY(!session);
    QCOMPARE(session.error().code, ErrorCode::BadInput);
    QVERIFY2(session.error().message.find("damaged or cut off") != std::string::npos,
             session.error().message.c_str());
}

void TestSessionFiles::damageInTheMiddleIsAnErrorNotACrash()
{
    makeSession(file(), 50);
    QByteArray bytes = contents(file());
    // Everything behind the schema's page.
    for (qsizetype i = 4096; i < bytes.size(); i += 3)
        bytes[i] = static_cast<char>(i * 7);
    write(file(), bytes);
    const auto session = Session::open(file());
    const bool readable = session && (*session)->candidates() && (*session)->tasks();
    QVERIFY(!readable);
}

void TestSessionFiles::aMissingFolderIsNamed()
{
    const auto session = Session::open(file("absent/a.session"));
    QVERIFY(!session);
    QCOMPARE(session.error().code, ErrorCode::Io);
    QVERIFY(session.error().message.find("there is no folder") != std::string::npos);
}

void TestSessionFiles::aFolderIsRefused()
{
    QVERIFY(messageOfOpening(folder_->path()).find("is a folder") != std::string::npos);
}

void TestSessionFiles::anEmptyNameIsRefused()
{
    QVERIFY(messageOfOpening({}).find("is empty") != std::string::npos);
}

void TestSessionFiles::aReadOnlyFileIsRefused()
{
    if (::geteuid() == 0) QSKIP("skipped: root may write to everything");
    makeSession(file(), 1);
    QVERIFY(QFile::setPermissions(file(), QFileDevice::ReadOwner));
    const auto session = Session::open(file());
    QVERIFY(!session);
    QCOMPARE(session.error().code, ErrorCode::Io);
    QVERIFY(session.error().message.find("may not be written to") != std::string::npos);
}

void TestSessionFiles::theSameFileTwiceInOneProgramIsRefused()
{
    {
        const auto first = openOrDie(file());
        QVERIFY(messageOfOpening(file()).find("already open in this program") != std::string::npos);
        QVERIFY(first->putTask(smallTask("t"))); // the first goes on undisturbed
    }
    QCOMPARE(messageOfOpening(file()), std::string("opened"));
}

void TestSessionFiles::anotherNameOfTheSameFileIsRefused()
{
    const auto first = openOrDie(file());
    QVERIFY(QFile::link(file(), file("link.session")));
    QVERIFY(messageOfOpening(file("link.session")).find("already open") != std::string::npos);
    QVERIFY(messageOfOpening(folder_->path() + "/./a.session").find("already open") != std::string::npos);
}

void TestSessionFiles::anotherProgramHoldsIt()
{
    QProcess writer;
    writer.start(SESSION_WRITER, {file()});
    QVERIFY(writer.waitForReadyRead(30000));
    const auto session = Session::open(file());
    QVERIFY(!session);
    QCOMPARE(session.error().code, ErrorCode::Io);
    const std::string expected =
        "open in another Kernelwright (process " + std::to_string(writer.processId());
    QVERIFY2(session.error().message.find(expected) != std::string::npos, session.error().message.c_str());
    writer.kill();
    QVERIFY(writer.waitForFinished(30000));
}

void TestSessionFiles::theLockOfADeadProgramIsTakenOver()
{
    QProcess writer;
    writer.start(SESSION_WRITER, {file()});
    QVERIFY(writer.waitForReadyRead(30000));
    writer.kill();
    QVERIFY(writer.waitForFinished(30000));
    QVERIFY(QFile::exists(file() + ".lock"));
    QCOMPARE(messageOfOpening(file()), std::string("opened"));
}

void TestSessionFiles::killingTheProgramLosesNothingThatWasStored()
{
    QProcess writer;
    writer.start(SESSION_WRITER, {file()});
    QByteArray said;
    while (said.count('\n') < 25) {
        QVERIFY(writer.waitForReadyRead(30000));
        said += writer.readAllStandardOutput();
    }
    writer.kill(); // SIGKILL, in the middle of whatever it is writing
    QVERIFY(writer.waitForFinished(30000));
    said += writer.readAllStandardOutput();
    const qsizetype stored = said.count('\n');

    const auto session = openOrDie(file());
    const auto candidates = session->candidates();
    QVERIFY(candidates);
    QVERIFY(static_cast<qsizetype>(candidates->size()) >= stored);
    for (qsizetype i = 0; i < stored; ++i) {
        const Candidate &candidate = candidates->at(static_cast<std::size_t>(i));
        QVERIFY(candidate.evaluation.has_value());
        QCOMPARE(candidate.evaluation->latency.medianUs, static_cast<double>(candidate.id));
        QCOMPARE(candidate.source.size(), std::size_t{2000});
    }
    QCOMPARE(valueOf(session->candidate(1))->evaluation->compile.ptx.size(), std::size_t{20000});
}

void TestSessionFiles::aFullDiskIsASentenceAndWhatWasStoredIsSafe()
{
    const auto session = openOrDie(file());
    QVERIFY(session->putTask(smallTask("t")));
    QVERIFY(session->addCandidate(candidateFor("t", "before")));

    // A limit on the size of files is what a full disk looks like from inside.
    struct rlimit before = {};
    QCOMPARE(::getrlimit(RLIMIT_FSIZE, &before), 0);
    struct rlimit tight = before;
    tight.rlim_cur = 200000;
    const auto previous = std::signal(SIGXFSZ, SIG_IGN);
    QCOMPARE(::setrlimit(RLIMIT_FSIZE, &tight), 0);
    const auto stored = session->addCandidate(candidateFor("t", std::string(400000, 's')));
    QCOMPARE(::setrlimit(RLIMIT_FSIZE, &before), 0);
    std::signal(SIGXFSZ, previous);

    QVERIFY(!stored);
    QCOMPARE(stored.error().code, ErrorCode::Io);
    QVERIFY2(stored.error().message.find(file().toStdString()) != std::string::npos,
             stored.error().message.c_str());
    QCOMPARE(valueOf(session->candidates()).size(), std::size_t{1});
    QVERIFY(session->addCandidate(candidateFor("t", "after"))); // there is room again
    QCOMPARE(valueOf(session->candidate(2))->source, std::string("after"));
}

QTEST_GUILESS_MAIN(TestSessionFiles)
#include "test_session_files.moc"
