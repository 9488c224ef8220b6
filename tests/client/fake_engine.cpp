// SPDX-License-Identifier: GPL-3.0-or-later
// An engine for the client's tests: it says hello as its first argument tells it to, and each method is one
// way in which an engine can behave.
#include "protocol/messages.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

using namespace kernelwright;
using protocol::Request;

namespace
{
void write(const std::string &bytes)
{
    std::cout << bytes << std::flush;
}

void answer(const Request &request, Json result)
{
    write(encode(protocol::Response{request.id, std::move(result)}));
}

[[noreturn]] void hang()
{
    while (true)
        ::pause();
}

void awaitCancel(const Request &request)
{
    for (std::string line; std::getline(std::cin, line);) {
        const auto next = protocol::decodeRequest(line);
        if (!next || next->method != "cancel" || next->params.at("request") != request.id) continue;
        write(encode(protocol::Response{request.id, fail(ErrorCode::Cancelled, "stopped")}));
        answer(*next, Json::object());
        return;
    }
}

void logLines(const Request &request)
{
    for (int i = 0; i < request.params.at("lines").get<int>(); ++i)
        std::fprintf(stderr, "log line %d\n", i);
}

void notify(const Request &request)
{
    for (int i = 0; i < request.params.at("count").get<int>(); ++i)
        write(encode(
            protocol::Notification{"progress", {{"request", request.id}, {"fraction", i}, {"text", "t"}}}));
    write(
        encode(protocol::Notification{"progress", {{"request", request.id + 1000}, {"text", "for nobody"}}}));
    answer(request, "notified");
}

const std::map<std::string, std::function<void(const Request &)>> methods{
    {"echo", [](const Request &r) { answer(r, r.params); }},
    {"pid", [](const Request &r) { answer(r, ::getpid()); }},
    {"fail",
     [](const Request &r) {
         write(encode(protocol::Response{r.id, fail(ErrorCode::BadInput, "no such file")}));
     }},
    {"crash",
     [](const Request &) {
         std::fprintf(stderr, "about to crash\n");
         std::raise(SIGSEGV);
     }},
    {"exit", [](const Request &r) { std::exit(r.params.at("status").get<int>()); }},
    {"partial",
     [](const Request &) {
         write("{\"jsonrpc\":\"2.0\",\"id\":");
         std::exit(0);
     }},
    {"answer_and_exit",
     [](const Request &r) {
         answer(r, "last");
         std::exit(0);
     }},
    {"hang", [](const Request &) { hang(); }},
    {"until_cancelled", awaitCancel},
    {"slow",
     [](const Request &r) {
         std::this_thread::sleep_for(std::chrono::milliseconds(r.params.at("milliseconds").get<int>()));
         answer(r, "slow");
     }},
    {"broken_message", [](const Request &) { write("{\"jsonrpc\": oops\n"); }},
    {"chatter",
     [](const Request &r) {
         write("Last login: never\n\n");
         answer(r, "after chatter");
     }},
    {"wrong_id",
     [](const Request &r) {
         answer(Request{r.id + 5, "", {}}, "for somebody else");
         answer(r, "for you");
     }},
    {"not_understood",
     [](const Request &) {
         write(
             encode(protocol::BadRequest{-1, protocol::notJson, {ErrorCode::Protocol, "that was no JSON"}}));
     }},
    {"log",
     [](const Request &r) {
         logLines(r);
         answer(r, "logged");
     }},
    {"log_bytes",
     [](const Request &r) {
         std::fprintf(stderr, "bad \xff bytes\r\nunfinished");
         answer(r, "logged");
     }},
    {"notify", notify},
    {"long_line",
     [](const Request &r) { write("{" + std::string(r.params.at("bytes").get<std::size_t>(), 'x') + "\n"); }},
    {"shutdown",
     [](const Request &r) {
         answer(r, Json::object());
         std::exit(0);
     }},
};

void sayHello(const Request &request, const std::string &manner)
{
    if (manner == "mute") hang();
    if (manner == "refuse")
        write(encode(
            protocol::Response{request.id, fail(ErrorCode::Protocol, "version 7 is not spoken here")}));
    else if (manner == "other-version")
        answer(request, {{"protocol", protocol::version + 1}});
    else if (manner == "no-version")
        answer(request, "hello yourself");
    else
        answer(request, {{"protocol", protocol::version}, {"engine", "fake"}});
}
} // namespace

int main(int argc, char **argv)
{
    const rlimit noCore{0, 0};
    ::setrlimit(RLIMIT_CORE, &noCore);
    const std::string manner = argc > 1 ? argv[1] : "good";
    if (manner == "die") {
        std::fprintf(stderr, "cannot find libtorch.so\n");
        return 7;
    }
    if (manner == "banner") write("Welcome to host1\n");
    for (std::string line; std::getline(std::cin, line);) {
        const auto request = protocol::decodeRequest(line);
        if (!request)
            write(encode(request.error()));
        else if (request->method == "hello")
            sayHello(*request, manner);
        else if (manner == "deaf")
            continue;
        else if (const auto method = methods.find(request->method); method != methods.end())
            method->second(*request);
        else
            write(encode(protocol::BadRequest{request->id,
                                              protocol::noSuchMethod,
                                              {ErrorCode::Protocol, "no method '" + request->method + "'"}}));
    }
    if (manner == "deaf") hang();
    return 0;
}
