// SPDX-License-Identifier: GPL-3.0-or-later
// Internal: the protocols there are.
#pragma once

#include "protocol.h"

namespace kernelwright
{

std::shared_ptr<const Protocol> makeAnthropicMessages();
std::shared_ptr<const Protocol> makeOpenAiResponses();
std::shared_ptr<const Protocol> makeChatCompletions();

} // namespace kernelwright
