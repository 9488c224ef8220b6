// SPDX-License-Identifier: GPL-3.0-or-later
// Keys in the system's keychain (Secret Service, KWallet), one per place a model is reached at
// ("api.anthropic.com", "localhost:8000"). To be used on the main thread: the keychain may ask the person to
// unlock it, and its answer comes through the event loop.
#pragma once

#include "agent/llm/http/secret.h"
#include "agent/llm/provider/endpoints.h"
#include "base/result.h"

#include <string>

namespace kernelwright
{

/// Empty where the place has no key. NotSupported where this machine has no keychain, or this build no
/// QtKeychain.
Result<Secret> readKeychain(const std::string &place);
Result<void> writeKeychain(const std::string &place, const Secret &key);
Result<void> removeFromKeychain(const std::string &place);

/// readKeychain() for those to whom no keychain and no key in it are the same.
KeyLookup keychainLookup();

} // namespace kernelwright
