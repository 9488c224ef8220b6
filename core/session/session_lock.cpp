// SPDX-License-Identifier: GPL-3.0-or-later
#include "session_lock.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <QSysInfo>

namespace kernelwright
{

namespace
{
std::string describeHolder(const QLockFile &lock)
{
    qint64 pid = 0;
    QString host, program;
    if (!lock.getLockInfo(&pid, &host, &program)) return "is open in another program";
    if (pid == QCoreApplication::applicationPid() && (host.isEmpty() || host == QSysInfo::machineHostName()))
        return "is already open in this program";
    const QString elsewhere =
        host.isEmpty() || host == QSysInfo::machineHostName() ? QString() : " on " + host;
    return QString("is open in another Kernelwright (process %1, %2%3)")
        .arg(pid)
        .arg(program, elsewhere)
        .toStdString();
}
} // namespace

Result<std::unique_ptr<QLockFile>> lockSession(const QString &path)
{
    auto lock = std::make_unique<QLockFile>(path + ".lock");
    // Age says nothing: a search runs for days. Only a holder that no longer lives makes a lock stale.
    lock->setStaleLockTime(0);
    if (lock->tryLock(0)) return lock;

    const std::string file = path.toStdString();
    switch (lock->error()) {
    case QLockFile::LockFailedError:
        return fail(ErrorCode::Io, "'" + file + "' " + describeHolder(*lock) + ": close it there first");
    case QLockFile::PermissionError:
        return fail(ErrorCode::Io, "'" + file + "' cannot be opened: the folder '" +
                                       QFileInfo(path).absolutePath().toStdString() +
                                       "' may not be written to; copy the session to a folder of your own");
    default:
        return fail(ErrorCode::Io, "'" + file + "' cannot be opened: its lock file '" + file +
                                       ".lock' cannot be written; is the disk full?");
    }
}

} // namespace kernelwright
