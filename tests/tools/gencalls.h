/* A made-up program that calls and returns: its functions, and the call stack of each sample.  For
 * gentrace.
 *
 * The functions are an ELF file's where there is one.  Each has a few places that call others, and
 * one of them is hot; one function in eight also calls itself.
 */
#ifndef TESTS_TOOLS_GENCALLS_H
#define TESTS_TOOLS_GENCALLS_H

#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "include/hr_format.h"
#include "lib/trace/trace_slot.h"

#define CALLS_FUNCTIONS_MAX 4096u
#define CALLS_SITES 4u /* in a function */
#define CALLS_FUNCTION_BYTES_MIN 16u

struct calls_function {
    uint64_t start;
    uint64_t bytes;
    uint32_t callees[CALLS_SITES];
};

struct calls_program {
    struct calls_function *functions;
    uint32_t count;
};

struct calls { /* a thread's stack */
    const struct calls_program *program;
    uint64_t random;
    uint32_t goal; /* what its depth swings around */
    uint32_t depth; /* frames that called another one */
    uint32_t functions[HR_STACK_FRAMES_MAX]; /* from the outermost; at depth: where it is */
    uint8_t sites[HR_STACK_FRAMES_MAX];
};

static inline uint32_t calls_random(uint64_t *state, uint32_t limit)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (uint32_t)((*state * 0x2545f4914f6cdd1dull >> 32) * limit >> 32);
}

/* As gentrace lays out a program that is no file's: one function after another. */
static inline void calls_make_up(struct calls_program *program, uint64_t start, uint64_t bytes)
{
    program->count = 256;
    program->functions = calloc(program->count, sizeof program->functions[0]);
    for (uint32_t i = 0; program->functions != NULL && i < program->count; i++) {
        program->functions[i].start = start + bytes / program->count * i;
        program->functions[i].bytes = bytes / program->count;
    }
}

static inline void calls_take_symbol(struct calls_program *program, const GElf_Sym *symbol,
                                     uint64_t start, uint64_t end)
{
    if (GELF_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_size < CALLS_FUNCTION_BYTES_MIN ||
        symbol->st_value < start || symbol->st_value + symbol->st_size > end ||
        program->count == CALLS_FUNCTIONS_MAX)
        return;
    program->functions[program->count].start = symbol->st_value;
    program->functions[program->count++].bytes = symbol->st_size;
}

/* The functions of an ELF file from `start` to `end`. */
static inline void calls_read(struct calls_program *program, int fd, uint64_t start, uint64_t end)
{
    Elf_Scn *section = NULL;
    Elf *elf;

    elf_version(EV_CURRENT);
    elf = elf_begin(fd, ELF_C_READ, NULL);
    program->functions = calloc(CALLS_FUNCTIONS_MAX, sizeof program->functions[0]);
    while (program->functions != NULL && (section = elf_nextscn(elf, section)) != NULL) {
        Elf_Data *data = elf_getdata(section, NULL);
        GElf_Shdr header;
        GElf_Sym symbol;

        if (gelf_getshdr(section, &header) == NULL || header.sh_type != SHT_SYMTAB || data == NULL)
            continue;
        for (int i = 0; gelf_getsym(data, i, &symbol) != NULL; i++)
            calls_take_symbol(program, &symbol, start, end);
    }
    elf_end(elf);
}

/* Who calls whom. */
static inline void calls_connect(struct calls_program *program, uint64_t seed)
{
    for (uint32_t i = 0; i < program->count; i++)
        for (uint32_t site = 0; site < CALLS_SITES; site++)
            program->functions[i].callees[site] =
                i % 8 == 7 && site == 1 ? i : calls_random(&seed, program->count);
}

static inline void calls_begin(struct calls *c, const struct calls_program *program, uint64_t seed,
                               uint32_t depth)
{
    *c = (struct calls){.program = program, .random = seed, .goal = depth};
    c->functions[0] = calls_random(&c->random, program->count);
}

/* The function calls another one: three times in four at its hot place. */
static inline void calls_call(struct calls *c)
{
    uint32_t site = calls_random(&c->random, 4 * CALLS_SITES);

    site = site < CALLS_SITES ? site : c->functions[c->depth] % CALLS_SITES;
    c->sites[c->depth] = (uint8_t)site;
    c->functions[c->depth + 1] = c->program->functions[c->functions[c->depth]].callees[site];
    c->depth++;
}

/* Until the next sample: nothing in two of three, else a few returns and as many calls. */
static inline void calls_advance(struct calls *c)
{
    uint32_t goal = c->goal;

    if (calls_random(&c->random, 3) != 0 && c->depth != 0)
        return;
    while (c->depth != 0 && calls_random(&c->random, 3) != 0)
        c->depth--;
    if (calls_random(&c->random, 64) == 0)
        c->depth /= 2;
    if (goal > 4)
        goal += calls_random(&c->random, 5) - 2;
    while (c->depth < goal && c->depth < HR_STACK_FRAMES_MAX - 1)
        calls_call(c);
}

static inline uint64_t calls_ip(struct calls *c)
{
    const struct calls_function *f = &c->program->functions[c->functions[c->depth]];

    return f->start + calls_random(&c->random, (uint32_t)f->bytes);
}

/* The stack as the sampler stores it, at most `limit` frames. */
static inline void calls_stack(const struct calls *c, uint32_t limit,
                               struct trace_slot_stack *stack)
{
    stack->count = c->depth < limit ? c->depth : limit;
    stack->root = c->depth <= limit ? HR_STACK_WHOLE : HR_STACK_CUT;
    for (uint32_t i = 0; i < stack->count; i++) {
        uint32_t frame = c->depth - 1 - i;
        const struct calls_function *f = &c->program->functions[c->functions[frame]];

        stack->words[i] = f->start + f->bytes * (c->sites[frame] + 1u) / (CALLS_SITES + 1) + 1;
    }
}

#endif
