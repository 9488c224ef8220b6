// SPDX-License-Identifier: GPL-3.0-or-later
#include "url.h"

#include <curl/curl.h>

#include <memory>

namespace kernelwright
{

namespace
{
using UrlHandle = std::unique_ptr<CURLU, decltype(&curl_url_cleanup)>;

std::string part(CURLU *handle, CURLUPart which, unsigned flags = 0)
{
    char *text = nullptr;
    if (curl_url_get(handle, which, &text, flags) != CURLUE_OK || !text) return {};
    std::string copy = text;
    curl_free(text);
    return copy;
}

Result<Url> partsOf(CURLU *handle)
{
    Url url;
    url.scheme = part(handle, CURLUPART_SCHEME);
    url.host = part(handle, CURLUPART_HOST);
    for (char &letter : url.host)
        if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    url.port = part(handle, CURLUPART_PORT, CURLU_DEFAULT_PORT);
    url.path = part(handle, CURLUPART_PATH);
    if (url.path == "/") url.path.clear();
    url.query = part(handle, CURLUPART_QUERY);
    if (url.scheme != "http" && url.scheme != "https")
        return fail(ErrorCode::BadInput, "the address has to begin with http:// or https://");
    if (url.host.empty()) return fail(ErrorCode::BadInput, "the address names no host");
    if (!part(handle, CURLUPART_USER).empty() || !part(handle, CURLUPART_PASSWORD).empty())
        return fail(ErrorCode::BadInput,
                    "the address holds a user or password, and addresses are shown: put the key into the "
                    "environment or the keychain instead");
    return url;
}
} // namespace

std::string Url::place() const
{
    const bool isUsual = port == (scheme == "https" ? "443" : "80");
    return isUsual ? host : host + ":" + port;
}

std::string Url::text() const
{
    return scheme + "://" + place() + path + (query.empty() ? "" : "?" + query);
}

bool Url::isSameOrigin(const Url &other) const
{
    return scheme == other.scheme && host == other.host && port == other.port;
}

bool Url::isLoopback() const
{
    return host == "localhost" || host == "[::1]" || host.starts_with("127.");
}

Result<Url> parseUrl(const std::string &text)
{
    const UrlHandle handle(curl_url(), curl_url_cleanup);
    if (!handle) return fail(ErrorCode::Internal, "out of memory while reading an address");
    if (curl_url_set(handle.get(), CURLUPART_URL, text.c_str(), CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK)
        return fail(ErrorCode::BadInput, "this is no address like https://host/v1");
    return partsOf(handle.get());
}

Result<Url> resolveUrl(const Url &base, const std::string &location)
{
    const UrlHandle handle(curl_url(), curl_url_cleanup);
    if (!handle) return fail(ErrorCode::Internal, "out of memory while reading an address");
    if (curl_url_set(handle.get(), CURLUPART_URL, base.text().c_str(), 0) != CURLUE_OK ||
        curl_url_set(handle.get(), CURLUPART_URL, location.c_str(), CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK)
        return fail(ErrorCode::BadInput, "the redirect leads to no address");
    return partsOf(handle.get());
}

} // namespace kernelwright
