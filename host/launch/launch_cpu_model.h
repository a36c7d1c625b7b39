/* The CPU that an emulated guest has when none was asked for, in QEMU's notation.
 *
 * x86-64-v3 as QEMU 7.2's TCG implements it completely, so that it neither warns nor differs from
 * machine to machine.  No rdrand and rdseed: they would make runs differ.
 */
#ifndef HOST_LAUNCH_LAUNCH_CPU_MODEL_H
#define HOST_LAUNCH_LAUNCH_CPU_MODEL_H

#define LAUNCH_CPU_EMULATED                                                                     \
    "qemu64,-svm,+ssse3,+sse4.1,+sse4.2,+popcnt,+avx,+avx2,+fma,+f16c,+bmi1,+bmi2,+abm,+movbe," \
    "+xsave,+xsaveopt,+xgetbv1,+fsgsbase,+smep,+smap,+umip,+rdtscp,+erms,+pdpe1gb,+arat,+"      \
    "pclmulqdq,+aes,+adx"

#endif
