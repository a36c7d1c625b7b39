/* The default CPU of an emulated guest, in QEMU's notation.
 *
 * It is x86-64-v3 as QEMU 7.2's TCG implements it completely, so that it neither warns nor differs
 * between machines.  It has no rdrand and rdseed, which would make runs differ.
 */
#pragma once

#define LAUNCH_CPU_EMULATED                                                                     \
    "qemu64,-svm,+ssse3,+sse4.1,+sse4.2,+popcnt,+avx,+avx2,+fma,+f16c,+bmi1,+bmi2,+abm,+movbe," \
    "+xsave,+xsaveopt,+xgetbv1,+fsgsbase,+smep,+smap,+umip,+rdtscp,+erms,+pdpe1gb,+arat,+"      \
    "pclmulqdq,+aes,+adx"
