// SPDX-License-Identifier: GPL-3.0-or-later
#include "postbox.h"

#include <utility>

namespace kernelwright::ui
{

namespace
{

constexpr int paceMs = 30;

/// How many bytes at the end of `text` begin a UTF-8 character whose rest is not there yet.
std::size_t incompleteTail(const std::string &text)
{
    for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
        const auto byte = static_cast<unsigned char>(text[text.size() - back]);
        if ((byte & 0xC0) == 0x80) continue;
        const std::size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
        return length > back ? back : 0;
    }
    return 0;
}

} // namespace

Postbox::Postbox(QObject *parent)
    : QObject(parent)
{
    pace_.setSingleShot(true);
    pace_.setInterval(paceMs);
    connect(&pace_, &QTimer::timeout, this, &Postbox::deliver);
}

void Postbox::setTextReceiver(std::function<void(int, const QString &)> receiver)
{
    receiver_ = std::move(receiver);
}

void Postbox::post(std::function<void()> letter)
{
    const std::lock_guard lock(mutex_);
    letters_.push_back({std::move(letter)});
    schedule();
}

void Postbox::postText(int channel, std::string_view text)
{
    const std::lock_guard lock(mutex_);
    if (!letters_.empty() && letters_.back().channel == channel)
        letters_.back().text += text;
    else
        letters_.push_back({{}, channel, std::string(text)});
    schedule();
}

void Postbox::schedule()
{
    if (std::exchange(scheduled_, true)) return;
    QMetaObject::invokeMethod(
        this, [this] { pace_.start(); }, Qt::QueuedConnection);
}

void Postbox::deliver()
{
    std::vector<Letter> letters;
    {
        const std::lock_guard lock(mutex_);
        letters.swap(letters_);
        scheduled_ = false;
        // A character that is still on its way waits for its rest.
        if (!letters.empty() && letters.back().channel >= 0) {
            std::string &text = letters.back().text;
            if (const std::size_t tail = incompleteTail(text); tail > 0) {
                letters_.push_back({{}, letters.back().channel, text.substr(text.size() - tail)});
                text.resize(text.size() - tail);
            }
        }
    }
    for (const Letter &letter : letters) {
        if (letter.run)
            letter.run();
        else if (receiver_ && !letter.text.empty())
            receiver_(letter.channel, QString::fromStdString(letter.text));
    }
}

} // namespace kernelwright::ui
