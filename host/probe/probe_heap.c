/* Finds allocators by their symbols, and their returns by following the code from their entries: an
 * allocator may end with a jump to a function that has no symbol. */
#include "host/probe/probe_heap.h"

#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"
#include "host/probe/probe_name.h"
#include "host/probe/probe_step.h"
#include "host/probe/probe_stub.h"
#include "lib/array.h"
#include "lib/hash.h"

#define SEEN_BITS 15u
#define STEPS_MAX (3u << (SEEN_BITS - 2)) /* instructions of one function */

static const struct allocator {
    const char *name;
    enum run_probe_heap heap;
} allocators[] = {
    {"malloc", RUN_PROBE_HEAP_SIZE},
    {"calloc", RUN_PROBE_HEAP_COUNT},
    {"realloc", RUN_PROBE_HEAP_RESIZE},
    {"reallocarray", RUN_PROBE_HEAP_RESIZE_COUNT},
    {"free", RUN_PROBE_HEAP_FREE},
    {"cfree", RUN_PROBE_HEAP_FREE},
    {"free_sized", RUN_PROBE_HEAP_FREE},
    {"free_aligned_sized", RUN_PROBE_HEAP_FREE},
    {"memalign", RUN_PROBE_HEAP_SECOND},
    {"aligned_alloc", RUN_PROBE_HEAP_SECOND},
    {"posix_memalign", RUN_PROBE_HEAP_STORE},
    {"valloc", RUN_PROBE_HEAP_SIZE},
    {"pvalloc", RUN_PROBE_HEAP_SIZE},
};

static const char *const prefixes[] = {"__libc_", "je_", "tc_", "mi_"};

/* operator new and delete, and what follows in their names: not of those that place an object. */
static const struct allocator operators[] = {
    {"_Znwm", RUN_PROBE_HEAP_SIZE},
    {"_Znam", RUN_PROBE_HEAP_SIZE},
    {"_ZdlPv", RUN_PROBE_HEAP_FREE},
    {"_ZdaPv", RUN_PROBE_HEAP_FREE},
};
static const char *const operator_ends[] = {"",
                                            "m",
                                            "RKSt9nothrow_t",
                                            "St11align_val_t",
                                            "mSt11align_val_t",
                                            "St11align_val_tRKSt9nothrow_t"};

struct walk {
    struct probe *p;
    struct probe_file *file;
    uint64_t *todo; /* addresses to follow; owned */
    size_t todo_count;
    uint64_t *seen; /* hash table of instructions; owned */
    size_t steps;
    enum run_probe_heap heap; /* of the function */
    uint64_t entry;
};

static bool is_word(const char *name, size_t bytes, const char *word)
{
    return strlen(word) == bytes && memcmp(name, word, bytes) == 0;
}

static enum run_probe_heap operator_of(const char *name, size_t bytes)
{
    for (size_t i = 0; i < ARRAY_COUNT(operators); i++) {
        size_t start = strlen(operators[i].name);

        if (bytes < start || memcmp(name, operators[i].name, start) != 0)
            continue;
        for (size_t e = 0; e < ARRAY_COUNT(operator_ends); e++)
            if (is_word(name + start, bytes - start, operator_ends[e]))
                return operators[i].heap;
    }
    return 0;
}

static enum run_probe_heap heap_of(const struct probe_symbol *symbol)
{
    const char *name = symbol->name;
    size_t bytes = (size_t)probe_name_bytes(symbol);

    if (symbol->kind != PROBE_SYMBOL_FUNCTION || !symbol->global)
        return 0;
    for (size_t i = 0; i < ARRAY_COUNT(prefixes); i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0) {
            name += strlen(prefixes[i]);
            bytes -= strlen(prefixes[i]);
            break;
        }
    for (size_t i = 0; i < ARRAY_COUNT(allocators); i++)
        if (is_word(name, bytes, allocators[i].name))
            return allocators[i].heap;
    return operator_of(name, bytes);
}

/* Returns an allocator that begins at an address, by its shortest name, or NULL. */
static const struct probe_symbol *allocator_at(const struct probe_file *f, size_t i)
{
    const struct probe_symbol *best = NULL;
    uint64_t start = f->symbols[i].start;

    for (; i < f->count && f->symbols[i].start == start; i++)
        if (heap_of(&f->symbols[i]) != 0 &&
            (best == NULL || probe_name_bytes(&f->symbols[i]) < probe_name_bytes(best)))
            best = &f->symbols[i];
    return best;
}

static int out_of_memory(struct probe *p)
{
    return run_fail(p->failure, "out of memory; end other programs");
}

static int follow(struct walk *w, uint64_t address)
{
    if (array_grow(&w->todo, w->todo_count, sizeof w->todo[0]) != 0)
        return out_of_memory(w->p);
    w->todo[w->todo_count++] = address;
    return 0;
}

/* Returns whether an instruction is new; there may be no room for it. */
static bool is_new(struct walk *w, uint64_t address)
{
    uint32_t at = hash_place(address, SEEN_BITS);

    while (w->seen[at] != 0 && w->seen[at] != address)
        at = (at + 1) & ((1u << SEEN_BITS) - 1);
    if (w->seen[at] == address || w->steps == STEPS_MAX)
        return false;
    w->seen[at] = address;
    w->steps++;
    return true;
}

static int add_point(struct walk *w, const struct probe_step *step, uint64_t address, uint8_t kind)
{
    struct probe_code_point point = {address, step->point};

    point.point.kind = kind;
    return probe_table_add_point(&w->p->table, &point, w->p->failure);
}

static bool is_direct(const struct run_probe_point *point)
{
    return point->flow == RUN_PROBE_JUMP || point->flow == RUN_PROBE_JUMP_IF ||
           point->flow == RUN_PROBE_JUMP_COUNT;
}

/* Takes an instruction: a return, or a jump, which is followed unless it leads to another file or
 * to an allocator. */
static int take_step(struct walk *w, const struct probe_step *step, uint64_t address)
{
    uint8_t kind = address == w->entry ? (uint8_t)(w->heap << RUN_PROBE_HEAP_SHIFT) : 0;
    enum probe_stub stub = PROBE_STUB_NONE;
    uint64_t target = address + (uint64_t)step->point.target;

    if (is_direct(&step->point))
        stub = probe_stub_at(w->file, target, &target);
    if (step->leaves && step->point.flow == RUN_PROBE_COPY_AWAY)
        kind |= RUN_PROBE_HEAP_RETURN;
    if (stub == PROBE_STUB_MEMSET && step->point.flow == RUN_PROBE_JUMP)
        kind |= RUN_PROBE_HEAP_JUMP;
    if (kind != 0 && step->refused == NULL && add_point(w, step, address, kind) != 0)
        return -1;
    return is_direct(&step->point) && stub == PROBE_STUB_NONE ? follow(w, target) : 0;
}

/* Takes code up to where it ends or was seen. */
static int take_run(struct walk *w, uint64_t address)
{
    struct probe_code *c = &w->p->code;
    uint64_t left;
    const uint8_t *code = probe_file_code(w->file, address, &left);
    struct probe_step step = {0};

    while (code != NULL && left != 0 && !step.ends && is_new(w, address)) {
        if (!probe_step_read(&step, c->handle, c->insn, code, left))
            return 0;
        if (take_step(w, &step, address) != 0)
            return -1;
        code += step.point.bytes;
        left -= step.point.bytes;
        address += step.point.bytes;
    }
    return 0;
}

static int add_allocator(struct walk *w, const struct probe_symbol *symbol)
{
    struct probe_function function = {.address = symbol->start,
                                      .bytes = symbol->bytes,
                                      .file = w->file,
                                      .spec = "--alloc",
                                      .kind = HR_PROBE_PLACE,
                                      .allocates = true};
    int result;

    w->heap = heap_of(symbol);
    w->entry = symbol->start;
    w->todo_count = w->steps = 0;
    memset(w->seen, 0, sizeof w->seen[0] << SEEN_BITS);
    result = probe_table_add(&w->p->table, &function, symbol->name, probe_name_bytes(symbol),
                             w->p->failure);
    if (result == 0)
        result = follow(w, w->entry);
    while (result == 0 && w->todo_count != 0)
        result = take_run(w, w->todo[--w->todo_count]);
    return result;
}

/* Returns how many allocators a file has, or -1 with the failure filled. */
static int add_file(struct walk *w)
{
    const struct probe_file *f = w->file;
    int found = 0;

    for (size_t i = 0; i < f->count; i++) {
        const struct probe_symbol *symbol = allocator_at(f, i);

        if (symbol != NULL && add_allocator(w, symbol) != 0)
            return -1;
        found += symbol != NULL;
        while (i + 1 < f->count && f->symbols[i + 1].start == f->symbols[i].start)
            i++;
    }
    return found;
}

int probe_heap_find(struct probe *p)
{
    struct walk w = {.p = p, .seen = malloc(sizeof w.seen[0] << SEEN_BITS)};
    int found = 0, result = w.seen != NULL ? 0 : out_of_memory(p);

    for (size_t i = 0; i < p->wish->object_count && result >= 0; i++) {
        w.file = p->files[i];
        result = probe_file_open(w.file) == 0 ? add_file(&w) : 0;
        if (result == 0 && p->wish->objects[i].allocates)
            result = run_fail(p->failure,
                              "--alloc-library: %s has no symbol of an allocator (malloc, "
                              "operator new); was it stripped?",
                              p->wish->objects[i].path);
        found += result > 0;
    }
    free(w.todo);
    free(w.seen);
    if (result >= 0 && found == 0)
        result = run_fail(p->failure,
                          "--alloc: neither the program nor a library of it has a symbol of an "
                          "allocator (malloc, operator new); was a static program stripped?");
    return result < 0 ? -1 : 0;
}
