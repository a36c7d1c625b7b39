/* Call stacks from registers and a copy of the stack: -g dwarf.
 *
 * Frames are found by the .eh_frame (or .debug_frame) of the files that the trace's load maps name,
 * read by libdw.  The rule for an address is cached, so that a known address costs a few steps.  A
 * stack that cannot be followed ends there, marked; nothing is guessed.  ELF files and copies of
 * stacks are hostile input.  Never prints.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/object/symbols_options.h"
#include "host/trace/trace_info.h"
#include "host/unwind/stacks.h"

#define UNWIND_FRAMES_MAX 1024u

struct unwind;

struct unwind_sample { /* the program's state at a sample */
    uint64_t registers[HR_STACK_REGISTERS]; /* in DWARF's order (System V ABI x86-64, figure 3.36):
                                               rax rdx rcx rbx rsi rdi rbp rsp r8 .. r15 */
    uint64_t ip;
    const uint8_t *stack; /* the memory from rsp on */
    size_t stack_bytes;
    uint32_t space; /* whose addresses these are, in traces with processes */
    bool own_addresses; /* the stack gets them as they are: host/trace/trace_spaces.h */
};

/* Takes the options of symbols_open; files are found and checked by the same rules.  `info` must
 * outlive the unwinder; maps that are added to it later are used.  Returns 0 or -ENOMEM. */
int unwind_open(struct unwind **unwind, const struct trace_info *info,
                const struct symbols_options *options);
void unwind_close(struct unwind *unwind);

/* Returns the stack's node in `stacks`. */
uint32_t unwind_stack(struct unwind *unwind, const struct unwind_sample *sample,
                      struct stacks *stacks);

/* As unwind_stack, of a sample whose instruction, at `ip`, was executed before the program came to
 * sample->ip: a call has made a frame, and a return has left one. */
uint32_t unwind_stack_after(struct unwind *unwind, const struct unwind_sample *sample, uint64_t ip,
                            struct stacks *stacks);
