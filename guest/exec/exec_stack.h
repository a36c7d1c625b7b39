/* The program's first stack (System V ABI for x86-64, "Initial Stack and Register State"): laid out
 * in a kernel buffer that is then copied below the stack's top.  Context: any. */
#ifndef GUEST_EXEC_EXEC_STACK_H
#define GUEST_EXEC_EXEC_STACK_H

#include <stddef.h>
#include <stdint.h>

#include "lib/manifest.h"

#define EXEC_STACK_BYTES_MAX (2u << 20) /* arguments and environment; more is -E2BIG */
#define EXEC_STACK_AUXV_MAX 24u
#define EXEC_STACK_RANDOM_BYTES 16u

struct exec_stack_auxv {
    uint64_t type;
    uint64_t value;
};

struct exec_stack {
    const struct manifest *manifest; /* its arg= and env= strings */
    const char *file_name; /* AT_EXECFN */
    uint8_t random[EXEC_STACK_RANDOM_BYTES];
    uint64_t top; /* address just above the stack, 16-byte aligned */
    uint32_t auxv_count; /* without those added: AT_EXECFN, AT_RANDOM, AT_PLATFORM, AT_NULL */
    struct exec_stack_auxv auxv[EXEC_STACK_AUXV_MAX];
};

/* Returns the bytes of the whole image, a multiple of 16; -E2BIG; or -EINVAL if there is no
 * argument. */
int64_t exec_stack_bytes(const struct exec_stack *stack);

/* Writes the image of exec_stack_bytes() bytes: its first byte belongs at top - bytes, which is the
 * initial stack pointer.
 */
void exec_stack_write(const struct exec_stack *stack, void *image, size_t bytes);

#endif
