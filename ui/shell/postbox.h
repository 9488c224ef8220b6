// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QString>
#include <QTimer>

#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace kernelwright::ui
{

/// Carries what happens on other threads to the window's thread, in order and in bundles: at most one bundle
/// every 30 ms, texts that follow each other joined into one. Post from any thread; everything is delivered
/// where the postbox lives. What has not been delivered when it is destroyed is dropped.
class Postbox : public QObject
{
    Q_OBJECT
public:
    explicit Postbox(QObject *parent = nullptr);

    void post(std::function<void()> letter);
    /// `channel` tells streams apart: text of one channel is joined while no other letter came between.
    void postText(int channel, std::string_view text);
    void setTextReceiver(std::function<void(int channel, const QString &text)> receiver);

private:
    struct Letter
    {
        std::function<void()> run;
        int channel = -1;
        std::string text; ///< bytes, so that a character cut in two by the stream is whole again once joined
    };
    void schedule();
    void deliver();

    std::mutex mutex_;
    std::vector<Letter> letters_;
    bool scheduled_ = false;
    QTimer pace_;
    std::function<void(int, const QString &)> receiver_;
};

} // namespace kernelwright::ui
