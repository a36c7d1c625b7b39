/* Lays out the program's first stack: argc, argv, envp, auxiliary vector, then the strings. */
#include "guest/exec/exec_stack.h"

#include <linux/auxvec.h>
#include <string.h>

#include "lib/round.h"

#define ADDED_AUXV 4u /* AT_EXECFN, AT_RANDOM, AT_PLATFORM, AT_NULL */
#define END_BYTES 8u /* zero bytes at the very top, as Linux leaves them */

static const char platform[] = "x86_64";

/* Returns the bytes of what is at the top: random bytes, platform, strings, the file's name. */
static uint64_t text_bytes(const struct exec_stack *stack)
{
    return EXEC_STACK_RANDOM_BYTES + sizeof platform + stack->arguments->bytes +
           stack->environment->bytes + strlen(stack->file_name) + 1 + END_BYTES;
}

static uint64_t auxv_bytes(const struct exec_stack *stack)
{
    return (stack->auxv_count + ADDED_AUXV) * sizeof(struct exec_stack_auxv);
}

/* Pointers and vector come first, then padding, then the text that they point to. */
static uint64_t table_bytes(const struct exec_stack *stack)
{
    return (1 + stack->arguments->count + 1 + stack->environment->count + 1) * sizeof(uint64_t) +
           auxv_bytes(stack);
}

uint64_t exec_stack_bytes(const struct exec_stack *stack)
{
    return round_up(table_bytes(stack) + text_bytes(stack), 16);
}

static int write_auxv(const struct exec_stack *stack, struct exec_writer *words, uint64_t random,
                      uint64_t name)
{
    const struct exec_stack_auxv added[ADDED_AUXV] = {
        {AT_RANDOM, random},
        {AT_PLATFORM, random + EXEC_STACK_RANDOM_BYTES},
        {AT_EXECFN, name},
        {AT_NULL, 0},
    };
    int error = exec_writer_put(words, stack->auxv, stack->auxv_count * sizeof stack->auxv[0]);

    return error ? error : exec_writer_put(words, added, sizeof added);
}

int exec_stack_write(const struct exec_stack *stack, struct vm_space *space,
                     struct process_given *given)
{
    struct exec_writer words = {.space = space, .address = stack->top - exec_stack_bytes(stack)};
    struct exec_writer text = {.space = space, .address = stack->top - text_bytes(stack)};
    uint64_t random = text.address;
    int error = exec_writer_word(&words, stack->arguments->count);

    if (!error)
        error = exec_writer_put(&text, stack->random, sizeof stack->random);
    if (!error)
        error = exec_writer_put(&text, platform, sizeof platform);
    given->arguments = text.address;
    if (!error)
        error = exec_strings_write(stack->arguments, &words, &text);
    given->environment = text.address;
    if (!error)
        error = exec_strings_write(stack->environment, &words, &text);
    given->end = text.address;
    given->auxv = words.address;
    given->auxv_bytes = auxv_bytes(stack);
    if (!error)
        error = exec_writer_put(&text, stack->file_name, strlen(stack->file_name) + 1);
    return error ? error : write_auxv(stack, &words, random, given->end);
}
