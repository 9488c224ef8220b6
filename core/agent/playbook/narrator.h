// SPDX-License-Identifier: GPL-3.0-or-later
// Speaks into an AgentStream: reasoning word by word, source line by line, at reading speed where asked.
#pragma once

#include "agent/agent.h"

#include <string>

namespace kernelwright::playbook
{

class Narrator
{
public:
    Narrator(const AgentStream &stream, const CancelToken &cancel, int wordDelayMs);

    void say(const std::string &sentence); ///< a sentence of the current paragraph
    void paragraph();
    void show(const std::string &source);
    const std::string &text() const { return text_; }
    bool isCancelled() const { return cancel_.isCancelled(); }

private:
    void wait(int milliseconds) const; ///< shorter when cancelled

    const AgentStream &stream_;
    const CancelToken &cancel_;
    int wordDelayMs_;
    std::string text_;
};

} // namespace kernelwright::playbook
