/* Turns counts by block into counts by address. */
#include "host/exact/exact_rows.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/hash.h"

#define FIRST_BITS 12u

static struct exact_row *slot_of(const struct exact_rows *rows, uint64_t address)
{
    uint32_t mask = (1u << rows->bits) - 1;
    uint32_t i = hash_place(address, rows->bits);

    while (rows->all[i].address != 0 && rows->all[i].address != address)
        i = (i + 1) & mask;
    return &rows->all[i];
}

static int grow(struct exact_rows *rows)
{
    struct exact_rows larger = {.bits = rows->all != NULL ? rows->bits + 1 : FIRST_BITS,
                                .count = rows->count};

    larger.all = calloc(1u << larger.bits, sizeof larger.all[0]);
    if (larger.all == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; rows->all != NULL && i < 1u << rows->bits; i++)
        if (rows->all[i].address != 0)
            *slot_of(&larger, rows->all[i].address) = rows->all[i];
    free(rows->all);
    *rows = larger;
    return 0;
}

/* Returns the row of an address, added if needed; NULL if out of memory. */
static struct exact_row *row_of(struct exact_rows *rows, uint64_t address)
{
    struct exact_row *row;

    if ((rows->all == NULL || rows->count >= (1u << rows->bits) / 2) && grow(rows) != 0)
        return NULL;
    row = slot_of(rows, address);
    rows->count += row->address == 0;
    row->address = address;
    return row;
}

static int add(struct exact_rows *rows, uint64_t address, enum exact_event event, uint64_t count)
{
    struct exact_row *row = address != 0 && count != 0 ? row_of(rows, address) : NULL;

    if (row != NULL)
        row->counts[event] += count;
    return row != NULL || address == 0 || count == 0 ? 0 : -ENOMEM;
}

/* ---- faults ---- */

struct cuts { /* of one thread, sorted by block and instruction */
    struct exact_cut *all;
    uint32_t count;
    uint32_t next;
};

static int compare_cuts(const void *a, const void *b)
{
    const struct exact_cut *x = a, *y = b;

    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    return x->instruction < y->instruction ? -1 : x->instruction > y->instruction;
}

static int find_cuts(struct cuts *cuts, const struct exact_memory *m, uint32_t thread)
{
    uint32_t count = 0;

    *cuts = (struct cuts){0};
    for (uint32_t i = 0; i < EXACT_CUTS; i++)
        count += m->cuts[i].block != 0 && m->cuts[i].thread == thread;
    cuts->all = calloc((size_t)count + 1, sizeof cuts->all[0]);
    if (cuts->all == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < EXACT_CUTS && cuts->count < count; i++)
        if (m->cuts[i].block != 0 && m->cuts[i].thread == thread)
            cuts->all[cuts->count++] = m->cuts[i];
    qsort(cuts->all, cuts->count, sizeof cuts->all[0], compare_cuts);
    return 0;
}

/* Returns how many executions ended at that instruction.  Must be called in the order of blocks and
 * instructions. */
static uint64_t cut_at(struct cuts *cuts, uint32_t block, uint32_t instruction)
{
    uint64_t count = 0;

    while (cuts->next < cuts->count && cuts->all[cuts->next].block < block)
        cuts->next++;
    while (cuts->next < cuts->count && cuts->all[cuts->next].block == block &&
           cuts->all[cuts->next].instruction <= instruction)
        count += cuts->all[cuts->next++].count;
    return count;
}

/* ---- blocks ---- */

struct reading {
    struct exact_rows *rows;
    const struct exact_memory *memory;
    const struct exact_code *code;
    const struct exact_called *called;
    struct cuts cuts;
};

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* `passed`: how many of its executions continued with the next instruction in memory. */
static int add_instruction(struct reading *r, uint64_t address, uint8_t kinds, uint64_t count,
                           uint64_t passed)
{
    struct exact_row *row = row_of(r->rows, address);
    uint64_t accesses = (kinds & EXACT_REPEATS) != 0 ? less(count, passed) : count;

    if (row == NULL)
        return -ENOMEM;
    row->counts[EXACT_INSTRUCTIONS] += count;
    if ((kinds & EXACT_LOADS) != 0)
        row->counts[EXACT_READS] += accesses;
    if ((kinds & EXACT_STORES) != 0)
        row->counts[EXACT_WRITES] += accesses;
    if ((kinds & EXACT_IS_BRANCH) == 0)
        return 0;
    row->counts[EXACT_BRANCHES] += count;
    row->counts[EXACT_TAKEN] += (kinds & EXACT_IS_CONDITIONAL) != 0 ? less(count, passed) : count;
    return 0;
}

static int add_block(struct reading *r, uint32_t number, const struct exact_counter *counter)
{
    const struct exact_block *block = &r->memory->blocks[number];
    const uint8_t *lengths = exact_memory_code(r->memory, number);
    uint64_t address = block->start, count = counter->entered, target = r->code->targets[number];
    uint8_t kinds = 0;
    int error = 0;

    for (uint32_t i = 0; i < block->instructions && error == 0; i++) {
        bool last = i + 1u == block->instructions;

        kinds = r->code->kinds[block->code + i];
        count = less(count, cut_at(&r->cuts, number, i));
        if (count != 0)
            error = add_instruction(r, address, kinds, count, last ? counter->passed : 0);
        address += lengths[i];
    }
    if (error != 0 || target == 0)
        return error;
    if ((kinds & EXACT_IS_CONDITIONAL) != 0)
        count = less(count, counter->passed);
    if ((kinds & EXACT_IS_CALL) == 0 && !exact_called_has(r->called, target))
        return 0;
    return add(r->rows, target, EXACT_CALLS, count);
}

static int add_edges(struct reading *r, uint32_t thread)
{
    const struct exact_edge *edges = r->memory->edges;
    int error = 0;

    for (uint32_t i = 0; i < EXACT_EDGES && error == 0; i++)
        if (edges[i].block != 0 && edges[i].thread == thread &&
            exact_called_has(r->called, edges[i].to))
            error = add(r->rows, edges[i].to, EXACT_CALLS, edges[i].count);
    return error;
}

static int compare_rows(const void *a, const void *b)
{
    const struct exact_row *x = a, *y = b;

    return x->address < y->address ? -1 : x->address > y->address;
}

static void sort(struct exact_rows *rows)
{
    uint32_t count = 0;

    for (uint32_t i = 0; rows->all != NULL && i < 1u << rows->bits; i++)
        if (rows->all[i].counts[EXACT_INSTRUCTIONS] != 0) /* called, but maybe not executed */
            rows->all[count++] = rows->all[i];
    if (count != 0)
        qsort(rows->all, count, sizeof rows->all[0], compare_rows);
    rows->count = count;
}

int exact_rows_read(struct exact_rows *rows, const struct exact_memory *memory,
                    const struct exact_code *code, const struct exact_called *called,
                    uint32_t thread)
{
    const struct exact_counter *table = exact_memory_table(memory, thread);
    struct reading r = {.rows = rows, .memory = memory, .code = code, .called = called};
    int error = find_cuts(&r.cuts, memory, thread);

    *rows = (struct exact_rows){0};
    for (uint32_t i = 1; i <= memory->header->blocks && error == 0; i++)
        if (table[i].entered != 0)
            error = add_block(&r, i, &table[i]);
    if (error == 0)
        error = add_edges(&r, thread);
    free(r.cuts.all);
    sort(rows);
    return error;
}

void exact_rows_free(struct exact_rows *rows)
{
    free(rows->all);
    *rows = (struct exact_rows){0};
}
