// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/result.h"

#include <string>

namespace kernelwright
{

/// The parts of an http or https address.
struct Url
{
    std::string scheme; ///< "http", "https"
    std::string host;   ///< lower case; an IPv6 address in brackets
    std::string port;   ///< always there: "443" where the address names none
    std::string path;   ///< "" or from '/' on
    std::string query;  ///< without '?', may be ""

    /// Host and port as a person reads them, the port left out where it is the scheme's own.
    std::string place() const;
    std::string text() const;
    bool isSameOrigin(const Url &other) const; ///< scheme, host and port
    bool isLoopback() const;                   ///< of this very machine: nothing that is sent leaves it
};

/// BadInput for anything but http and https, for an address without a host, and for one that carries a user
/// or password (keys have their own place and must not stand in addresses, which are shown).
Result<Url> parseUrl(const std::string &text);

/// Where a redirect's Location leads, seen from `base`.
Result<Url> resolveUrl(const Url &base, const std::string &location);

} // namespace kernelwright
