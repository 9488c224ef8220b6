// SPDX-License-Identifier: GPL-3.0-or-later
#include "warp_state.h"

#include <bit>
#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace kernelwright
{

namespace
{

template <class... T>
std::string printed(const char *format, T... values)
{
    char text[64];
    std::snprintf(text, sizeof text, format, values...);
    return text;
}

Json groupJson(const LaneGroup &group)
{
    return {{"lanes", group.lanes}, {"line", group.line}, {"state", group.state}};
}

Json registerJson(const RegisterState &state)
{
    // As text: a double cannot hold 64 bits, and readers in other languages have nothing else.
    Json bits = Json::array();
    for (const std::uint64_t lane : state.bits)
        bits.push_back(printed("%" PRIx64, lane));
    return {{"name", state.name},   {"type", state.type},         {"bits", std::move(bits)},
            {"read", state.isRead}, {"written", state.isWritten}, {"changed", state.hasChanged}};
}

std::uint64_t bitsOf(const Json &json)
{
    const auto text = json.get<std::string>();
    std::size_t used = 0;
    std::uint64_t value = 0;
    if (text.empty() || text.size() > 16)
        rejectJson("'" + text.substr(0, 40) + "' is not a hexadecimal number");
    for (; used < text.size(); ++used) {
        const char c = text[used];
        const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (digit < 0) rejectJson("'" + text + "' is not a hexadecimal number");
        value = value * 16 + static_cast<std::uint64_t>(digit);
    }
    return value;
}

RegisterState readRegister(const Json &json)
{
    RegisterState state;
    json.at("name").get_to(state.name);
    json.at("type").get_to(state.type);
    const Json &bits = json.at("bits");
    if (bits.size() != state.bits.size()) rejectJson("a register has 32 lanes");
    for (std::size_t lane = 0; lane < state.bits.size(); ++lane)
        state.bits[lane] = bitsOf(bits.at(lane));
    readOptional(json, "read", state.isRead);
    readOptional(json, "written", state.isWritten);
    readOptional(json, "changed", state.hasChanged);
    return state;
}

Json accessJson(const AccessState &access)
{
    return {{"kind", access.kind},
            {"space", access.space},
            {"lanes", access.lanes},
            {"bytes_per_lane", access.bytesPerLane},
            {"addresses", access.addresses},
            {"buffer", access.buffer},
            {"offsets", access.offsets},
            {"sectors", access.sectors},
            {"ideal_sectors", access.idealSectors},
            {"banks", access.banks},
            {"bank_passes", access.bankPasses},
            {"bank_conflicts", access.bankConflicts}};
}

AccessState readAccess(const Json &json)
{
    AccessState access;
    json.at("kind").get_to(access.kind);
    json.at("space").get_to(access.space);
    json.at("lanes").get_to(access.lanes);
    json.at("bytes_per_lane").get_to(access.bytesPerLane);
    json.at("addresses").get_to(access.addresses);
    readOptional(json, "buffer", access.buffer);
    readOptional(json, "offsets", access.offsets);
    readOptional(json, "sectors", access.sectors);
    readOptional(json, "ideal_sectors", access.idealSectors);
    readOptional(json, "banks", access.banks);
    readOptional(json, "bank_passes", access.bankPasses);
    readOptional(json, "bank_conflicts", access.bankConflicts);
    return access;
}

} // namespace

std::string registerText(const RegisterState &state, int lane)
{
    const std::uint64_t bits = state.bits[static_cast<std::size_t>(lane)];
    const auto low = static_cast<std::uint32_t>(bits);
    if (state.type == "pred") return bits ? "true" : "false";
    if (state.type == "f32") return printed("%.7g", static_cast<double>(std::bit_cast<float>(low)));
    if (state.type == "f64") return printed("%.12g", std::bit_cast<double>(bits));
    if (state.type == "b64" || state.type == "u64" || state.type == "s64") {
        // Addresses are told by their size.
        if (bits >> 40) return printed("0x%" PRIx64, bits);
        return printed("%" PRId64, static_cast<std::int64_t>(bits));
    }
    if (state.type == "b16" || state.type == "u16" || state.type == "s16")
        return printed("%d", static_cast<int>(static_cast<std::int16_t>(low)));
    return printed("%d", static_cast<int>(low));
}

void to_json(Json &json, const WarpState &state)
{
    Json groups = Json::array(), registers = Json::array(), access = Json::array();
    for (const LaneGroup &group : state.groups)
        groups.push_back(groupJson(group));
    for (const RegisterState &each : state.registers)
        registers.push_back(registerJson(each));
    for (const AccessState &each : state.access)
        access.push_back(accessJson(each));
    json = Json{{"kernel", state.kernel},       {"block", state.block},
                {"warp", state.warp},           {"step", state.step},
                {"finished", state.isFinished}, {"fault", state.fault},
                {"waiting", state.waiting},     {"line", state.line},
                {"ptx_line", state.ptxLine},    {"instruction", state.instruction},
                {"active", state.active},       {"live", state.live},
                {"groups", std::move(groups)},  {"registers", std::move(registers)},
                {"access", std::move(access)}};
}

void from_json(const Json &json, WarpState &state)
{
    state = WarpState();
    json.at("kernel").get_to(state.kernel);
    json.at("block").get_to(state.block);
    json.at("warp").get_to(state.warp);
    json.at("step").get_to(state.step);
    readOptional(json, "finished", state.isFinished);
    readOptional(json, "fault", state.fault);
    readOptional(json, "waiting", state.waiting);
    json.at("line").get_to(state.line);
    readOptional(json, "ptx_line", state.ptxLine);
    readOptional(json, "instruction", state.instruction);
    readOptional(json, "active", state.active);
    readOptional(json, "live", state.live);
    for (const Json &group : json.at("groups"))
        state.groups.push_back({group.at("lanes").get<std::uint32_t>(), group.at("line").get<int>(),
                                group.at("state").get<std::string>()});
    for (const Json &each : json.at("registers"))
        state.registers.push_back(readRegister(each));
    for (const Json &each : json.at("access"))
        state.access.push_back(readAccess(each));
}

} // namespace kernelwright
