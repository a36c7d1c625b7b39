/* What the emulator's command line always has: its descriptors and the default CPU. */
#pragma once

/* The descriptors that the emulator inherits.  They are fixed, so that all runs have the same
 * command line. */
enum {
    LAUNCH_FD_ARCHIVE = 100, /* the guest's initrd */
    LAUNCH_FD_PORTS = 101, /* one socket a port, in the order of enum launch_port */
    LAUNCH_FD_QMP = 111, /* after the ports: QEMU's control socket */
    LAUNCH_FD_EXACT = 112, /* memory in which the plugin of --mode exact counts */
    LAUNCH_FD_SPARE = 200, /* where the child moves descriptors before it puts them in place */
    LAUNCH_FD_LIMIT = 1024, /* number of descriptors for the emulator, if the system allows it */
};

/* The default CPU of an emulated guest, in QEMU's notation.
 *
 * It is x86-64-v3 as QEMU 7.2's TCG implements it completely, so that it neither warns nor differs
 * between machines.  It has no rdrand and rdseed, which would make runs differ.
 */
#define LAUNCH_CPU_EMULATED                                                                     \
    "qemu64,-svm,+ssse3,+sse4.1,+sse4.2,+popcnt,+avx,+avx2,+fma,+f16c,+bmi1,+bmi2,+abm,+movbe," \
    "+xsave,+xsaveopt,+xgetbv1,+fsgsbase,+smep,+smap,+umip,+rdtscp,+erms,+pdpe1gb,+arat,+"      \
    "pclmulqdq,+aes,+adx"

/* Of the machine in virtual time, in which all timers are due at once when the guest waits: the
 * PIT's ticks, which nothing uses, would keep the emulator busy until the host gives what the guest
 * waits for. */
#define LAUNCH_NO_TICKS "pit=off"
