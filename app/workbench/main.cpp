// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/resources.h"
#include "ui/shell/grab_walk.h"
#include "ui/shell/main_window.h"
#include "ui/shell/search_backend.h"
#include "ui/shell/workbench.h"
#include "ui/theme/theme.h"
#include "ui/welcome/welcome_page.h"

#include <QApplication>
#include <QCommandLineParser>
#include <QDir>
#include <QStandardPaths>
#include <QTemporaryDir>

#include <cstdio>

namespace
{

using namespace kernelwright;
using namespace kernelwright::ui;

/// Bad usage, as for the command line.
constexpr int badUsage = 2;

struct Arguments
{
    QString file, grabFolder, device, theme;
    int stepLimitMs = 240000; ///< of the walk that grabs pictures
};

/// Parses, or ends the program with a sentence.
Arguments readArguments(const QApplication &application)
{
    QCommandLineParser parser;
    parser.setApplicationDescription(
        QObject::tr("Rewrite a model's slow operators as CUDA kernels, together with an agent."));
    parser.addHelpOption();
    parser.addVersionOption();
    parser.addPositionalArgument(QStringLiteral("FILE"),
                                 QObject::tr("A model (.pt2, TorchScript) or a session"),
                                 QStringLiteral("[FILE]"));
    const QCommandLineOption grab(
        QStringLiteral("grab"),
        QObject::tr("Walk the first minute and write pictures of the window into DIR."),
        QStringLiteral("DIR"));
    const QCommandLineOption device(QStringLiteral("device"), QObject::tr("cuda:N, simt or simt:GPU."),
                                    QStringLiteral("D"));
    const QCommandLineOption theme(QStringLiteral("theme"),
                                   QObject::tr("dark or light; as the system without it."),
                                   QStringLiteral("THEME"));
    const QCommandLineOption limit(QStringLiteral("step-limit"),
                                   QObject::tr("Seconds that a step of --grab may take (240)."),
                                   QStringLiteral("S"), QStringLiteral("240"));
    parser.addOptions({grab, device, theme, limit});
    parser.process(application);
    const auto refuse = [](const QString &sentence) {
        std::fprintf(stderr, "kernelwright: %s\n", qPrintable(sentence));
        std::exit(badUsage);
    };
    const QStringList files = parser.positionalArguments();
    if (files.size() > 1)
        refuse(QObject::tr("one file can be opened, not %1; give one model or session").arg(files.size()));
    const QString chosenTheme = parser.value(theme);
    if (!chosenTheme.isEmpty() && chosenTheme != QStringLiteral("dark") &&
        chosenTheme != QStringLiteral("light"))
        refuse(QObject::tr("there is no theme “%1”; take dark or light").arg(chosenTheme));
    if (parser.isSet(grab) && parser.value(grab).isEmpty())
        refuse(QObject::tr("--grab needs the folder for the pictures"));
    const int seconds = parser.value(limit).toInt();
    if (seconds <= 0)
        refuse(
            QObject::tr("--step-limit needs a number of seconds above 0, not “%1”").arg(parser.value(limit)));
    return {files.value(0), parser.value(grab), parser.value(device), chosenTheme, seconds * 1000};
}

QString sampleFolder()
{
    const auto resources = resourceDirectory();
    return resources.empty() ? QString() : QString::fromStdString((resources / "samples").string());
}

} // namespace

int main(int argc, char **argv)
{
    QApplication application(argc, argv);
    QApplication::setApplicationName(QStringLiteral("kernelwright"));
    QApplication::setApplicationVersion(QStringLiteral(KERNELWRIGHT_VERSION));
    const Arguments arguments = readArguments(application);
    const bool grabs = !arguments.grabFolder.isEmpty();

    // Pictures must not depend on, nor change, how the person at this machine has set up the window.
    QTemporaryDir scratch;
    QSettings settings =
        grabs ? QSettings(scratch.filePath(QStringLiteral("settings.ini")), QSettings::IniFormat)
              : QSettings(QStringLiteral("kernelwright"), QStringLiteral("kernelwright"));
    ThemeController themes;
    MainWindow window(themes, settings);
    window.setWindowIcon(themedIcon(themes.theme(), QStringLiteral("kernelwright")));
    SearchBackend::Settings backendSettings;
    backendSettings.sessionFolder =
        grabs
            ? scratch.filePath(QStringLiteral("sessions"))
            : QStandardPaths::writableLocation(QStandardPaths::AppDataLocation) + QStringLiteral("/sessions");
    SearchBackend backend(std::move(backendSettings));
    Workbench workbench(window, backend);
    workbench.setDevice(arguments.device);
    if (!arguments.theme.isEmpty())
        themes.setChoice(arguments.theme == QStringLiteral("dark") ? ThemeChoice::Dark : ThemeChoice::Light);
    const std::vector<Sample> samples = readSamples(sampleFolder());
    window.welcome->setSamples(samples);
    window.showWelcome();
    if (grabs) window.resize(1600, 1000);
    window.show();

    if (!grabs) {
        if (arguments.file.isEmpty())
            workbench.offerLastSession();
        else
            workbench.openFile(arguments.file);
        return QApplication::exec();
    }
    if (arguments.file.isEmpty() && samples.empty()) {
        std::fprintf(stderr, "kernelwright: the bundled samples were not found; name a model: kernelwright "
                             "--grab DIR MODEL\n");
        return badUsage;
    }
    GrabWalk walk(window, workbench, backend,
                  {arguments.grabFolder, arguments.file.isEmpty() ? samples.front().path : arguments.file,
                   arguments.stepLimitMs});
    QObject::connect(&walk, &GrabWalk::finished, &application, [](const QString &sentence) {
        if (!sentence.isEmpty()) std::fprintf(stderr, "kernelwright: %s\n", qPrintable(sentence));
        QApplication::exit(sentence.isEmpty() ? 0 : 1);
    });
    QMetaObject::invokeMethod(&walk, &GrabWalk::start, Qt::QueuedConnection);
    return QApplication::exec();
}
