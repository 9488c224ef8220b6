// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/result.h"
#include "graph/tensor_type.h"
#include "zip_archive.h"

#include <string>

namespace kernelwright
{

/// A tensor that lies in `record` from element `elementOffset` on, without a copy. BadInput, with `what` in
/// front, where the type is not one of ours, a size or stride is negative, or the record is too short for it.
Result<HostTensor> tensorInRecord(const TensorType &type, const ZipRecord &record, std::int64_t elementOffset,
                                  const std::string &what);

} // namespace kernelwright
