// SPDX-License-Identifier: GPL-3.0-or-later
// Instructions that few kernels use, and forms of common ones that newer architectures added.
#include "instruction_rows.h"

namespace kernelwright
{

namespace
{

constexpr std::uint64_t nan32 = 0x7fffffff, quiet = 0x7fc00000, inf = 0x7f800000, minusInf = 0xff800000;
constexpr std::uint64_t one = 0x3f800000, two = 0x40000000, three = 0x40400000, minusZero = 0x80000000;

// clang-format off
constexpr InstructionRow rows[] = {
    {"mul24.lo.s32 %d32, %a32, %b32;", 32, 0x00ffffff, 3, 0, 0xfffffffd},    // -1 in 24 bits
    {"mul24.lo.u32 %d32, %a32, %b32;", 32, 0xff000002, 3, 0, 6},             // the top byte is not looked at
    {"mul24.hi.u32 %d32, %a32, %b32;", 32, 0x00ffffff, 0x00ffffff, 0, 0xfffffe00},
    {"mad24.lo.u32 %d32, %a32, %b32, %c32;", 32, 5, 7, 100, 135},
    {"mad24.hi.sat.s32 %d32, %a32, %b32, %c32;", 32, 0x007fffff, 0x007fffff, 0x7fffffff, 0x7fffffff},
    {"fns.b32 %d32, %a32, %b32, %c32;", 32, 0b10110, 0, 2, 2},               // the second set bit from 0 up
    {"fns.b32 %d32, %a32, %b32, %c32;", 32, 0b10110, 3, 0xffffffff, 2},      // the first from 3 down
    {"fns.b32 %d32, %a32, %b32, %c32;", 32, 0b10110, 0, 4, 0xffffffff},
    {"fns.b32 %d32, %a32, %b32, %c32;", 32, 0b10110, 4, 0, 4},
    {"fns.b32 %d32, %a32, %b32, %c32;", 32, 0b10110, 3, 0, 0xffffffff},
    {"bmsk.clamp.b32 %d32, %a32, %b32;", 32, 4, 8, 0, 0xff0},
    {"bmsk.clamp.b32 %d32, %a32, %b32;", 32, 4, 40, 0, 0xfffffff0},
    {"bmsk.clamp.b32 %d32, %a32, %b32;", 32, 33, 1, 0, 0},
    {"bmsk.wrap.b32 %d32, %a32, %b32;", 32, 36, 33, 0, 0x10},
    {"szext.clamp.s32 %d32, %a32, %b32;", 32, 0x80, 8, 0, 0xffffff80},
    {"szext.clamp.u32 %d32, %a32, %b32;", 32, 0x1ff, 8, 0, 0xff},
    {"szext.clamp.s32 %d32, %a32, %b32;", 32, 0x12345678, 40, 0, 0x12345678},
    {"szext.wrap.s32 %d32, %a32, %b32;", 32, 0x12345678, 32, 0, 0},
    {"dp2a.lo.s32.s32 %d32, %a32, %b32, %c32;", 32, 0x0002ffff, 0x7f7f0305, 10, 11}, // -1·5 + 2·3 + 10
    {"dp2a.hi.u32.s32 %d32, %a32, %b32, %c32;", 32, 0x0002ffff, 0xff030000, 0, 0x2fffb}, // 65535·3 - 2
    {"add.u16x2 %d32, %a32, %b32;", 32, 0xffff0001, 0x00010002, 0, 0x00000003},
    {"min.s16x2 %d32, %a32, %b32;", 32, 0xffff0001, 0x00010002, 0, 0xffff0001},
    {"max.u16x2 %d32, %a32, %b32;", 32, 0xffff0001, 0x00010002, 0, 0xffff0002},
    {"max.relu.s16x2 %d32, %a32, %b32;", 32, 0xffff8001, 0xfffe0002, 0, 0x00000002},
    {"min.relu.s16x2 %d32, %a32, %b32;", 32, 0xffff0005, 0x00010003, 0, 0x00000003},
    {"vadd4.u32.u32.u32 %d32, %a32, %b32, %c32;", 32, 0xff010203, 0x01010101, 0, 0x00020304},
    {"vadd4.u32.u32.u32.sat %d32, %a32, %b32, %c32;", 32, 0xff010203, 0x01010101, 0, 0xff020304},
    {"vsub2.s32.s32.s32.sat %d32, %a32, %b32, %c32;", 32, 0x80000001, 0x00010002, 0, 0x8000ffff},
    {"vabsdiff4.u32.u32.u32.add %d32, %a32, %b32, %c32;", 32, 0x01020304, 0x04030201, 100, 108},
    {"vavrg4.u32.u32.u32 %d32, %a32, %b32, %c32;", 32, 0x01020304, 0x02020506, 0, 0x02020405},
    {"vmin2.s32.s32.s32 %d32, %a32, %b32, %c32;", 32, 0xffff0003, 0x00010002, 0, 0xffff0002},
    {"lop3.or.b32 %d32|%dp, %a32, %b32, %c32, 0x80, 0;", 1, 1, 2, 4, 0},
    {"lop3.or.b32 %d32|%dp, %a32, %b32, %c32, 0xfe, 0;", 1, 1, 2, 4, 1},
    {"setp.ne.s32 %xp, %a32, 0; lop3.and.b32 %d32|%dp, %a32, %b32, %c32, 0xfe, !%xp;", 1, 1, 2, 4, 0},
    {"lop3.or.b32 %d32|%dp, %a32, %b32, %c32, 0xfe, 1;", 32, 1, 2, 4, 7},
    {"min.f32 %d32, %a32, %b32, %c32;", 32, three, two, one, one},
    {"max.f32 %d32, %a32, %b32, %c32;", 32, quiet, two, one, two},
    {"max.NaN.f32 %d32, %a32, %b32, %c32;", 32, one, two, quiet, nan32},
    {"max.abs.f32 %d32, %a32, %b32, %c32;", 32, 0xc0400000, two, one, three},
    {"mul.f32x2 %d64, %a64, %b64;", 64, 0x4000000040400000, 0x400000003f800000, 0, 0x4080000040400000},
    {"add.rz.f32x2 %d64, %a64, %b64;", 64, 0x3f8000003f800000, 0x3300000033800001, 0, 0x3f8000003f800000},
    {"fma.rn.f32x2 %d64, %a64, %b64, %c64;", 64, 0x4000000040000000, 0x4040000040400000, 0x3f800000bf800000, 0x40e0000040a00000},
    {"sub.rn.f32x2 %d64, %a64, %b64;", 64, 0x7f8000003f800000, 0x7f8000003f800000, 0, 0x7fffffff00000000},
    {"add.f32.f16 %d32, %a16, %b32;", 32, 0x3c00, two, 0, three},
    {"sub.rn.f32.bf16 %d32, %a16, %b32;", 32, 0x4040, two, 0, one},
    {"fma.rn.f32.f16 %d32, %a16, %b16, %c32;", 32, 0x0001, 0x0001, 0, 0x27800000},  // 2^-48
    {"cvt.rn.relu.f16.f32 %d16, %a32;", 16, 0xbf800000, 0, 0, 0},
    {"cvt.rn.relu.bf16.f32 %d16, %a32;", 16, quiet, 0, 0, 0x7fff},
    {"cvt.rn.satfinite.f16.f32 %d16, %a32;", 16, inf, 0, 0, 0x7bff},
    {"cvt.rn.satfinite.bf16x2.f32 %d32, %a32, %b32;", 32, minusInf, quiet, 0, 0xff7f7fff},
    {"cvt.rn.tf32.f32 %d32, %a32;", 32, 0x3f801000, 0, 0, one},              // a tie, to even
    {"cvt.rn.tf32.f32 %d32, %a32;", 32, 0x3f803000, 0, 0, 0x3f804000},
    {"cvt.rz.tf32.f32 %d32, %a32;", 32, 0x3f803fff, 0, 0, 0x3f802000},
    {"cvt.rn.relu.tf32.f32 %d32, %a32;", 32, 0xbf803000, 0, 0, 0},
    {"cvt.rn.satfinite.relu.e4m3x2.f32 %d16, %a32, %b32;", 16, 0xbf800000, one, 0, 0x0038},
    {"cvt.rn.satfinite.relu.e5m2x2.f16x2 %d16, %a32;", 16, 0xbc003c00, 0, 0, 0x003c},
    {"cvt.rn.relu.f16x2.e4m3x2 %d32, %a16;", 32, 0xb838, 0, 0, 0x00003c00},
    {"cvt.rn.satfinite.e4m3x2.f32 %d16, %a32, %b32;", 16, quiet, 0x43e80000, 0, 0x7f7e},   // 464 lies half way to the absent 480
    {"cvt.rn.satfinite.e2m3x2.f32 %d16, %a32, %b32;", 16, one, 0x41000000, 0, 0x081f},     // 8 is clamped to 7.5
    {"cvt.rn.satfinite.e3m2x2.f32 %d16, %a32, %b32;", 16, 0xc1e00000, 0x3d800000, 0, 0x3f01}, // -28, 1/16: the smallest
    {"cvt.rn.satfinite.e4m3x2.f32 %d16, %a32, %b32;", 16, 0, minusZero, 0, 0x0080},
    {"cvt.rn.satfinite.e5m2x2.f32 %d16, %a32, %b32;", 16, minusZero, 0x37000000, 0, 0x8000},  // 2^-17: half the smallest, to even
    {"cvt.rn.satfinite.e3m2x2.f32 %d16, %a32, %b32;", 16, 0, minusZero, 0, 0x0020},
    {"cvt.rn.f16x2.e2m3x2 %d32, %a16;", 32, 0x081f, 0, 0, 0x3c004780},
    {"cvt.rn.f16x2.e3m2x2 %d32, %a16;", 32, 0x2c01, 0, 0, 0xbc002c00},
    {"cvt.rz.satfinite.ue8m0x2.f32 %d16, %a32, %b32;", 16, three, one, 0, 0x807f},
    {"cvt.rp.satfinite.ue8m0x2.f32 %d16, %a32, %b32;", 16, three, quiet, 0, 0x81ff},
    {"cvt.rn.bf16x2.ue8m0x2 %d32, %a16;", 32, 0x807f, 0, 0, 0x40003f80},
    {"cvt.pack.sat.s16.s32 %d32, %a32, %b32;", 32, 40000, 0xffff0000, 0, 0x7fff8000},
    {"cvt.pack.sat.u8.s32.b32 %d32, %a32, %b32, %c32;", 32, 300, 0xffffffff, 0x1234, 0x1234ff00},
    {"cvt.rn.bf16.f16 %d16, %a16;", 16, 0x3c04, 0, 0, 0x3f80},               // 1 + 2^-8: a tie, to even
    {"cvt.rn.f16.bf16 %d16, %a16;", 16, 0x7f7f, 0, 0, 0x7c00},
    {"mov.u32 %d32, WARP_SZ;", 32, 0, 0, 0, 32},
    {"createpolicy.fractional.L2::evict_last.b64 %d64, 1.0; ld.global.L2::cache_hint.u32 %d32, [%out], %d64; cvt.u64.u32 %d64, %d32;", 64, 0, 0, 0, 0xdeadbeef},
    {"atom.global.v2.add.f32 {%x32, %d32}, [%out], {%a32, %b32};", 32, one, two, 0, 0},
    {"fence.proxy.async; mov.u32 %d32, 1;", 32, 0, 0, 0, 1},
    {"nanosleep.u32 10; griddepcontrol.wait; griddepcontrol.launch_dependents; mov.u32 %d32, 1;", 32, 0, 0, 0, 1},
    {"prefetch.global.L2 [%out]; applypriority.global.L2::evict_normal [%out], 128; discard.global.L2 [%out], 128; mov.u32 %d32, 1;", 32, 0, 0, 0, 1},
};
// clang-format on

} // namespace

std::span<const InstructionRow> rareRows()
{
    return rows;
}

} // namespace kernelwright
