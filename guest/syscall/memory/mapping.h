/* Records of system calls that change which memory a process has (hr run --alloc). */
#pragma once

struct cpu;
struct trap_frame;

/* After a system call, whose result is in the frame: writes HR_REC_MAPPING if it is one of these
 * and succeeded, and the program's stack where samples have one.  Context: thread, with the
 * kernel lock, the workload clock stopped. */
void mapping_record(struct cpu *cpu, const struct trap_frame *frame);
