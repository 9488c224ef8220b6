// SPDX-License-Identifier: GPL-3.0-or-later
// What client and engine say to each other: JSON-RPC 2.0, one message a line (UTF-8, '\n'), requests from the client,
// answers and notifications from the engine. One request runs at a time in an engine, but for "cancel" and "hello",
// which are answered at once; others wait in line.
#pragma once

#include "base/json.h"
#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace kernelwright::protocol
{

constexpr int version = 1;
/// Longer lines are answered with an error and skipped.
constexpr std::size_t maximumMessageBytes = std::size_t{256} << 20;

// Methods, their params and results. Value types are those of graph/, kernel/ and this file in their JSON form.
//
// hello        {protocol}                         → {protocol, engine, torch, nvrtc, pid}; another version is an error
// devices      {}                                 → {devices: [DeviceInfo]}
// open_device  {id}                               → DeviceInfo
// open_model   {path, inputs: ["1x512:int64"], weights: bool} → {graph, format, torch_version, notes, parameters: {count, bytes},
//                                                    inputs: [{name, shape, dtype}], inputs_from_file}
// run_model    {io: path or ""}                   → {outputs: [{name, shape, dtype}], max_abs_error?, max_rel_error?}
// profile      {}                                 → ModelProfile (of the open model on the open device)
// cut_task     {nodes: [name]}                    → Task; the engine keeps it under its id
// write_task   {task: id, path}                   → {}
// read_task    {path}                             → Task; likewise kept
// evaluate     {task: id, source, stages: [], tuning: {}, measure?: MeasureOptions} → Evaluation;
//                                                   notifications "stage" {request, stage: StageResult}
// apply        {kernels: [AcceptedKernel]}        → WholeModelReport
// cancel       {request}                          → {}; the cancelled request answers with an error of code "cancelled"
// shutdown     {}                                 → {}; then the engine ends
//
// Notifications: "stage" as above; "progress" {request, fraction (0…1 or -1), text}.
// Errors: JSON-RPC's {code, message, data: {kind}}, kind being errorCodeName(); code −32700 not JSON, −32600 not a request,
// −32601 no such method, −32602 bad params, −32000 anything else.

struct Request
{
    std::int64_t id = 0;
    std::string method;
    Json params = Json::object();
};

struct Response
{
    std::int64_t id = 0;
    Result<Json> result;
};

struct Notification
{
    std::string method;
    Json params = Json::object();
};

std::string encode(const Request &request); ///< one line, '\n' at its end
std::string encode(const Response &response);
std::string encode(const Notification &notification);

/// JSON-RPC's error numbers, as listed above.
constexpr int notJson = -32700;
constexpr int notARequest = -32600;
constexpr int noSuchMethod = -32601;
constexpr int badParams = -32602;
constexpr int otherFailure = -32000;

/// The engine's side. An error here still tells the id to answer to, -1 where there is none.
struct BadRequest
{
    std::int64_t id = -1;
    int code = 0;
    Error error;
};
tl::expected<Request, BadRequest> decodeRequest(std::string_view line);
std::string encode(const BadRequest &bad);

/// The client's side: a line from the engine is a response or a notification. A response without an id, which an engine
/// gives where it could not read the request, has the id -1 and an error.
struct Incoming
{
    bool isResponse = false;
    Response response{0, Json()};
    Notification notification;
};
Result<Incoming> decodeIncoming(std::string_view line);

} // namespace kernelwright::protocol
