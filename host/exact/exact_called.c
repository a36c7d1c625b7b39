/* Finds the targets of calls. */
#include <errno.h>
#include <stdlib.h>

#include "host/exact/exact_called.h"

#include "lib/hash.h"

#define FIRST_BITS 12u

static uint64_t *slot_of(const struct exact_called *called, uint64_t address)
{
    uint32_t mask = (1u << called->bits) - 1;
    uint32_t i = hash_place(address, called->bits);

    while (called->all[i] != 0 && called->all[i] != address)
        i = (i + 1) & mask;
    return &called->all[i];
}

static int grow(struct exact_called *called)
{
    struct exact_called larger = {.bits = called->bits != 0 ? called->bits + 1 : FIRST_BITS,
                                  .count = called->count};

    larger.all = calloc(1u << larger.bits, sizeof larger.all[0]);
    if (larger.all == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; called->all != NULL && i < 1u << called->bits; i++)
        if (called->all[i] != 0)
            *slot_of(&larger, called->all[i]) = called->all[i];
    free(called->all);
    *called = larger;
    return 0;
}

static int add(struct exact_called *called, uint64_t address)
{
    uint64_t *slot;

    if (address == 0)
        return 0;
    if ((called->all == NULL || called->count >= (1u << called->bits) / 2) && grow(called) != 0)
        return -ENOMEM;
    slot = slot_of(called, address);
    called->count += *slot == 0;
    *slot = address;
    return 0;
}

bool exact_called_has(const struct exact_called *called, uint64_t address)
{
    return called->all != NULL && address != 0 && *slot_of(called, address) != 0;
}

int exact_called_find(struct exact_called *called, const struct exact_memory *memory,
                      const struct exact_code *code)
{
    int error = 0;

    *called = (struct exact_called){0};
    for (uint32_t i = 1; i <= memory->header->blocks && error == 0; i++)
        if ((exact_code_last(code, memory, i) & EXACT_IS_CALL) != 0)
            error = add(called, code->targets[i]);
    for (uint32_t i = 0; i < EXACT_EDGES && error == 0; i++)
        if (memory->edges[i].block != 0 && (exact_code_last(code, memory, memory->edges[i].block) &
                                            (EXACT_IS_CALL | EXACT_IS_LINK)) != 0)
            error = add(called, memory->edges[i].to);
    return error;
}

void exact_called_free(struct exact_called *called)
{
    free(called->all);
    *called = (struct exact_called){0};
}
