/* Where fields are, for assembly. */
#pragma once

/* of struct cpu: guest/cpu/cpu.h checks them */
#define CPU_KERNEL_STACK 8
#define CPU_USER_RSP 16
#define CPU_THREAD 24
#define CPU_ENTER_TICKS 32
#define CPU_EXIT_TICKS 40
#define CPU_USER_TICKS 48
#define CPU_CLOCK_OFFSET 56
#define CPU_STOP_MASK 64
#define CPU_STOPPED_AT 72
#define CPU_LEAVE_RSP 88
#define CPU_FRAMES_FLOOR 96
#define CPU_FRAMES_MINUS_END 104
#define CPU_FRAMES_END 112
#define CPU_BRIEF_ROOM 120
#define CPU_BRIEF_MASK 128
#define CPU_BRIEF_SLOT_BYTES 136
#define CPU_BRIEF_COUNTERS 144
#define CPU_BRIEF_STACK 152
#define CPU_BRIEF_SHARE_FACTOR 160
#define CPU_BRIEF_READER 168
#define CPU_BRIEF_UNMASK 176
#define CPU_TID 236
#define CPU_RING 248
#define CPU_SHARE_SEEN 256
#define CPU_SHARE_RETURNED 280
#define CPU_PERIOD 320
#define CPU_BASE 336
#define CPU_SAMPLES 368
#define CPU_STEAL 424
#define CPU_STEAL_SEEN 440

/* of struct ring and struct pmu_overflow: guest/sample/overflow_way.c checks them */
#define RING_HEAD 64
#define RING_RESERVED 72
#define PMU_COUNTER_MSR 4
#define PMU_COUNTER 8
#define PMU_CLEAR_MSR 40
#define PMU_CLEARED 76
#define PMU_PRESET 84
