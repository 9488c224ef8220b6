// SPDX-License-Identifier: GPL-3.0-or-later
// The numbers and small records of torch.export's JSON (torch/_export/serde/schema.py), which are not those
// of c10.
#pragma once

#include "graph/tensor_type.h"

#include <cstdint>
#include <exception>
#include <optional>
#include <string>

namespace kernelwright
{

/// Thrown inside the `.pt2` reader alone, where JSON's own exceptions fly too; its entry points turn it into
/// a Result.
struct ImportFailure : std::exception
{
    explicit ImportFailure(Error why)
        : error(std::move(why))
    {}
    ImportFailure(ErrorCode code, std::string message)
        : error{code, std::move(message)}
    {}
    const char *what() const noexcept override { return error.message.c_str(); }
    Error error;
};

/// Runs `work` (which returns a value or throws) and turns what it throws into a Result. `what` is where JSON
/// broke.
template <class Work>
auto catchImportFailure(const std::string &what, Work &&work) -> Result<decltype(work())>
{
    try {
        return work();
    } catch (const ImportFailure &failure) {
        return tl::unexpected<Error>(failure.error);
    } catch (const nlohmann::json::exception &error) {
        return fail(ErrorCode::BadInput,
                    what + " does not have the form that torch.export writes: " + error.what());
    }
}

/// A union as torch.export writes it, {"as_int": 3}: its key and what is behind it. Throws for anything else.
struct ExportedUnion
{
    const std::string &kind;
    const Json &content;
};
ExportedUnion unionOf(const Json &json);

DType dtypeFromExport(std::int64_t scalarType);          ///< Unknown for types that have no name here
std::string layoutFromExport(std::int64_t layout);       ///< "strided", "sparse_coo", …; "" if unknown
std::string memoryFormatFromExport(std::int64_t format); ///< "contiguous_format", …; "" if unknown
std::string deviceFromExport(const Json &device);        ///< "cpu", "cuda:0"

/// "2*s0" from either way in which PyTorch writes expressions: "2*s0" or
/// "Mul(Integer(2), Symbol('s0', integer=True))". Text it does not understand is returned as it is.
std::string readableExpression(const std::string &text);

/// A size: its number (the hint where it is symbolic; nullopt where even that is missing) and its expression
/// ("" when fixed).
struct ExportedInteger
{
    std::optional<std::int64_t> value;
    std::string expression;
};
ExportedInteger integerFromExport(const Json &symInt);

struct ExportedTensorMeta
{
    TensorType type;
    std::int64_t storageOffset = 0;
    bool isSparse = false;
};
ExportedTensorMeta tensorMetaFromExport(const Json &meta);

/// A float as JSON holds it: a number, or "Infinity", "-Infinity", "NaN".
double floatFromExport(const Json &number);

} // namespace kernelwright
