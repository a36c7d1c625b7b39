/* Keeps mapped ranges in an array. */
#include "host/memory/allocations/memory_mapped.h"

#include <errno.h>
#include <linux/mman.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"

const char *const memory_mapped_name[MEMORY_MAPPED_KINDS] = {
    [MEMORY_MAPPED_ANONYMOUS] = "anonymous", [MEMORY_MAPPED_RESERVED] = "reserved",
    [MEMORY_MAPPED_SHARED] = "shared",       [MEMORY_MAPPED_FILES] = "files",
    [MEMORY_MAPPED_HEAP] = "heap",
};

void memory_mapped_free(struct memory_mapped *mapped)
{
    free(mapped->ranges);
    *mapped = (struct memory_mapped){0};
}

/* Returns the first range that ends after an address. */
static size_t find(const struct memory_mapped *m, uint32_t pid, uint64_t address)
{
    size_t low = 0, high = m->count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct memory_mapped_range *r = &m->ranges[middle];

        if (r->pid < pid || (r->pid == pid && r->end <= address))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int insert(struct memory_mapped *m, size_t at, const struct memory_mapped_range *range)
{
    if (m->count == MEMORY_MAPPED_RANGES_MAX) {
        m->refused++;
        return 0;
    }
    if (array_grow(&m->ranges, m->count, sizeof *range) != 0)
        return -ENOMEM;
    memmove(m->ranges + at + 1, m->ranges + at, (m->count - at) * sizeof *range);
    m->ranges[at] = *range;
    m->count++;
    m->kinds[range->kind].live += range->end - range->start;
    return 0;
}

static void drop(struct memory_mapped *m, size_t at)
{
    m->kinds[m->ranges[at].kind].live -= m->ranges[at].end - m->ranges[at].start;
    m->count--;
    memmove(m->ranges + at, m->ranges + at + 1, (m->count - at) * sizeof m->ranges[0]);
}

/* Takes a range away, and what is left of those that it cuts.  Stores the kind of the first. */
static int unmap(struct memory_mapped *m, uint32_t pid, uint64_t start, uint64_t end,
                 uint32_t *kind)
{
    size_t at = find(m, pid, start);
    int error = 0;

    while (error == 0 && at < m->count && m->ranges[at].pid == pid && m->ranges[at].start < end) {
        struct memory_mapped_range cut = m->ranges[at], rest = cut;

        *kind = cut.kind;
        drop(m, at);
        cut.end = start;
        rest.start = end;
        if (cut.start < start)
            error = insert(m, at++, &cut);
        if (rest.end > end && error == 0)
            error = insert(m, at++, &rest);
    }
    return error;
}

static int map(struct memory_mapped *m, uint32_t pid, uint64_t start, uint64_t end, uint32_t kind)
{
    struct memory_mapped_sums *sums = &m->kinds[kind];
    uint32_t before;
    int error = unmap(m, pid, start, end, &before);

    if (error == 0)
        error =
            insert(m, find(m, pid, start), &(struct memory_mapped_range){start, end, pid, kind});
    sums->peak = sums->live > sums->peak ? sums->live : sums->peak;
    return error;
}

static enum memory_mapped_kind kind_of(const struct hr_rec_mapping *r)
{
    if ((r->flags & MAP_TYPE) != MAP_PRIVATE)
        return MEMORY_MAPPED_SHARED;
    if ((r->flags & MAP_ANONYMOUS) == 0)
        return MEMORY_MAPPED_FILES;
    return r->protection == PROT_NONE ? MEMORY_MAPPED_RESERVED : MEMORY_MAPPED_ANONYMOUS;
}

static void count(struct memory_mapped *m, uint32_t kind, uint64_t bytes)
{
    m->kinds[kind].calls++;
    m->kinds[kind].bytes += bytes;
}

static int move_break(struct memory_mapped *m, uint32_t pid, const struct hr_rec_mapping *r)
{
    uint32_t kind = MEMORY_MAPPED_HEAP;

    if (r->address < r->old_address)
        return unmap(m, pid, r->address, r->old_address, &kind);
    count(m, kind, r->address - r->old_address);
    return map(m, pid, r->old_address, r->address, kind);
}

int memory_mapped_take(struct memory_mapped *m, uint32_t pid, const struct hr_rec_mapping *r)
{
    uint64_t end = r->address + r->bytes, old_end = r->old_address + r->old_bytes;
    uint32_t kind = MEMORY_MAPPED_ANONYMOUS;
    int error;

    if (r->kind == HR_MAPPING_BREAK)
        return r->address == r->old_address ? 0 : move_break(m, pid, r);
    if (end <= r->address || old_end < r->old_address)
        return 0;
    if (r->kind == HR_MAPPING_UNMAP)
        return unmap(m, pid, r->address, end, &kind);
    if (r->kind == HR_MAPPING_MAP) {
        count(m, kind_of(r), r->bytes);
        return map(m, pid, r->address, end, kind_of(r));
    }
    if (r->kind != HR_MAPPING_MOVE)
        return 0;
    error = unmap(m, pid, r->old_address, old_end, &kind);
    if (r->bytes > r->old_bytes)
        count(m, kind, r->bytes - r->old_bytes);
    return error != 0 ? error : map(m, pid, r->address, end, kind);
}

void memory_mapped_end(struct memory_mapped *m, uint32_t pid)
{
    uint32_t kind;

    (void)unmap(m, pid, 0, UINT64_MAX, &kind); /* nothing is cut */
}
