// SPDX-License-Identifier: GPL-3.0-or-later
#include "service_outputs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace kernelwright
{

namespace
{
double errorOf(double got, double stored)
{
    if (got == stored || (std::isnan(got) && std::isnan(stored))) return 0;
    const double error = std::fabs(got - stored);
    return std::isfinite(error) ? error : std::numeric_limits<double>::infinity();
}

double largestMagnitude(const std::vector<double> &numbers)
{
    double largest = 0;
    for (const double number : numbers)
        if (std::isfinite(number)) largest = std::max(largest, std::fabs(number));
    return largest;
}

double relative(double error, double scale)
{
    if (error == 0) return 0;
    return scale > 0 ? error / scale : std::numeric_limits<double>::infinity();
}

void compareOne(const HostTensor &output, const HostTensor &stored, OutputDifference &difference)
{
    const std::vector<double> got = toDoubles(output), wanted = toDoubles(stored);
    const double least = 1e-6 * largestMagnitude(wanted);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const double error = errorOf(got[i], wanted[i]);
        const double magnitude = std::isfinite(wanted[i]) ? std::fabs(wanted[i]) : 0;
        difference.maxAbsError = std::max(difference.maxAbsError, error);
        difference.maxRelError =
            std::max(difference.maxRelError, relative(error, std::max(magnitude, least)));
    }
}
} // namespace

Result<OutputDifference> compareOutputs(std::span<const HostTensor> outputs,
                                        std::span<const HostTensor> stored)
{
    if (outputs.size() != stored.size())
        return fail(ErrorCode::BadInput, "the model has " + std::to_string(outputs.size()) +
                                             " tensor outputs, the example stores " +
                                             std::to_string(stored.size()));
    OutputDifference difference;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const TensorType &got = outputs[i].type, &wanted = stored[i].type;
        if (got.dtype != wanted.dtype || got.sizes != wanted.sizes)
            return fail(ErrorCode::BadInput, "output " + std::to_string(i) + " of the model is " +
                                                 describe(got) + ", the example stores " + describe(wanted));
        compareOne(outputs[i], stored[i], difference);
    }
    return difference;
}

} // namespace kernelwright
