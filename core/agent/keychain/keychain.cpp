// SPDX-License-Identifier: GPL-3.0-or-later
#include "keychain.h"

#if KERNELWRIGHT_HAS_KEYCHAIN
#include <QEventLoop>
#include <QFileInfo>
#include <QTimer>
#include <qt6keychain/keychain.h>

#include <unistd.h>
#endif

namespace kernelwright
{

#if KERNELWRIGHT_HAS_KEYCHAIN

namespace
{
constexpr const char *service = "kernelwright";
/// A person may have to type the keychain's password.
constexpr int patienceMs = 120'000;

/// Without a session bus nobody would answer, and the libraries below would wait for it.
bool hasSessionBus()
{
    return qEnvironmentVariableIsSet("DBUS_SESSION_BUS_ADDRESS") ||
           QFileInfo::exists(QStringLiteral("/run/user/%1/bus").arg(getuid()));
}

Result<void> run(QKeychain::Job &job, const std::string &place)
{
    if (!hasSessionBus())
        return fail(ErrorCode::NotSupported,
                    "there is no keychain here (no session bus): give the key by the environment");
    job.setAutoDelete(false);
    job.setInsecureFallback(false); // never into a settings file
    job.setKey(QString::fromStdString(place));
    QEventLoop loop;
    bool finished = false;
    QObject::connect(&job, &QKeychain::Job::finished, &loop, [&] {
        finished = true;
        loop.quit();
    });
    QTimer::singleShot(patienceMs, &loop, &QEventLoop::quit);
    job.start();
    if (!finished) loop.exec(QEventLoop::ExcludeUserInputEvents);
    if (!finished) return fail(ErrorCode::Timeout, "the keychain did not answer: unlock it and try again");
    if (job.error() == QKeychain::NoError || job.error() == QKeychain::EntryNotFound) return {};
    const bool isMissing =
        job.error() == QKeychain::NoBackendAvailable || job.error() == QKeychain::NotImplemented;
    return fail(isMissing ? ErrorCode::NotSupported : ErrorCode::Io,
                "the keychain refuses: " + job.errorString().toStdString());
}
} // namespace

Result<Secret> readKeychain(const std::string &place)
{
    QKeychain::ReadPasswordJob job(QString::fromLatin1(service));
    if (auto done = run(job, place); !done) return forward(done.error());
    return Secret(job.textData().toStdString());
}

Result<void> writeKeychain(const std::string &place, const Secret &key)
{
    QKeychain::WritePasswordJob job(QString::fromLatin1(service));
    job.setTextData(QString::fromStdString(key.reveal()));
    return run(job, place);
}

Result<void> removeFromKeychain(const std::string &place)
{
    QKeychain::DeletePasswordJob job(QString::fromLatin1(service));
    return run(job, place);
}

#else

namespace
{
tl::unexpected<Error> withoutKeychain()
{
    return fail(ErrorCode::NotSupported,
                "this program was built without QtKeychain: give the key by the environment");
}
} // namespace

Result<Secret> readKeychain(const std::string &)
{
    return withoutKeychain();
}

Result<void> writeKeychain(const std::string &, const Secret &)
{
    return withoutKeychain();
}

Result<void> removeFromKeychain(const std::string &)
{
    return withoutKeychain();
}

#endif

KeyLookup keychainLookup()
{
    return [](const std::string &place) { return readKeychain(place).value_or(Secret()); };
}

} // namespace kernelwright
