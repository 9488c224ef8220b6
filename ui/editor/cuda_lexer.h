// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/theme/theme.h"

#include <Qsci/qscilexercpp.h>

namespace kernelwright::ui
{

/// CUDA C++: C++ with CUDA's qualifiers among the keywords, and intrinsics and built-in variables as the
/// second set.
class CudaLexer : public QsciLexerCPP
{
    Q_OBJECT
public:
    explicit CudaLexer(QObject *parent = nullptr);
    const char *language() const override { return "CUDA"; }
    const char *keywords(int set) const override;
    void applyTheme(const Theme &theme, const QFont &font);
};

} // namespace kernelwright::ui
