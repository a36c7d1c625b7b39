/* The program's first stack (System V ABI for x86-64, "Initial Stack and Register State"): written
 * below the stack's top, which is mapped.  Context: boot, or a thread with the kernel lock held. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "guest/exec/exec_strings.h"
#include "guest/thread/process.h"

#define EXEC_STACK_AUXV_MAX 24u
#define EXEC_STACK_RANDOM_BYTES 16u

struct exec_stack_auxv {
    uint64_t type;
    uint64_t value;
};

struct exec_stack {
    const struct exec_strings *arguments, *environment; /* surveyed */
    const char *file_name; /* AT_EXECFN */
    uint8_t random[EXEC_STACK_RANDOM_BYTES];
    uint64_t top; /* address just above the stack, 16-byte aligned */
    uint32_t auxv_count; /* without those added: AT_EXECFN, AT_RANDOM, AT_PLATFORM, AT_NULL */
    struct exec_stack_auxv auxv[EXEC_STACK_AUXV_MAX];
};

/* Returns the bytes of it all, a multiple of 16: the initial stack pointer is at top - bytes. */
uint64_t exec_stack_bytes(const struct exec_stack *stack);

/* Writes it; *given says where its parts are.  Returns 0, -EFAULT or -ENOMEM. */
int exec_stack_write(const struct exec_stack *stack, struct vm_space *space,
                     struct process_given *given);
