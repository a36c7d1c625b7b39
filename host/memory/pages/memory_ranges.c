/* Ranges of pages, and their names. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"
#include "host/memory/pages/memory.h"
#include "host/symbols/wait_name.h"

#define NEAR_BYTES (16ull << 20) /* pages of one name and at most this distance are a range */
#define STACK_BYTES (8ull << 20) /* RLIMIT_STACK, below the end of the program's half */
#define USER_END 0x7ffffffff000ull

/* The name of what is at a page: of a file that the process has mapped code of, or of a kind. */
static void name(const struct memory *memory, struct symbols *symbols,
                 const struct memory_page *page, char label[MEMORY_LABEL_BYTES])
{
    struct hr_rec_wait at = {.time = UINT64_MAX, .tid = page->pid, .address = page->address};
    struct symbols_place place;
    bool heap = false;
    bool found = wait_name_find(symbols, memory->info, &at, &place, &heap);

    if (!found) { /* a file's part may begin within the page */
        at.address += MEMORY_PAGE_BYTES - 1;
        found = wait_name_find(symbols, memory->info, &at, &place, &heap);
    }
    if (found && place.object != NULL)
        snprintf(label, MEMORY_LABEL_BYTES, "%s", place.object);
    else if (heap)
        strcpy(label, "[heap]");
    else if (page->address >= USER_END - STACK_BYTES)
        strcpy(label, "[stack]");
    else
        strcpy(label, "[anon]");
}

static void add_page(const struct memory *memory, struct memory_range *r,
                     const struct memory_page *page)
{
    uint64_t end = page->address + (uint64_t)page->pages * MEMORY_PAGE_BYTES;

    r->end = end > r->end ? end : r->end; /* a 2 MiB page may hold the ones after it */
    r->touched += page->pages;
    r->written += page->written != 0 ? page->pages : 0;
    r->cold += memory_is_cold(memory, page->last) ? page->pages : 0;
    r->sum += (uint64_t)page->looks * page->pages;
    r->first = page->first < r->first ? page->first : r->first;
    r->last = page->last > r->last ? page->last : r->last;
}

static struct memory_range *find(const struct memory *memory, const struct memory_run *run)
{
    size_t low = 0, high = memory->range_count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        const struct memory_range *r = &memory->ranges[middle];

        if (r->pid < run->pid || (r->pid == run->pid && r->start <= run->address))
            low = middle;
        else
            high = middle;
    }
    return &memory->ranges[low];
}

struct sum { /* of the pages of a range in one look */
    uint64_t pages;
    uint32_t look;
};

/* Adds a run to the sums of its ranges, of which it may touch several. */
static void add_run(const struct memory *memory, const struct memory_run *run, struct sum *sums)
{
    struct memory_run rest = *run;

    while (rest.pages != 0) {
        struct memory_range *r = find(memory, &rest);
        struct sum *sum = &sums[r - memory->ranges];
        uint64_t part = rest.pages;

        if (rest.address < r->end && (r->end - rest.address) / MEMORY_PAGE_BYTES < part)
            part = (r->end - rest.address) / MEMORY_PAGE_BYTES;
        if (sum->look != run->look)
            *sum = (struct sum){.look = run->look};
        sum->pages += part;
        r->peak = sum->pages > r->peak ? sum->pages : r->peak;
        rest.pages -= part;
        rest.address += part * MEMORY_PAGE_BYTES;
    }
}

static int find_peaks(struct memory *memory)
{
    struct sum *sums = calloc(memory->range_count, sizeof *sums);

    if (sums == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < memory->run_count && memory->range_count != 0; i++)
        add_run(memory, &memory->runs[i], sums);
    free(sums);
    return 0;
}

int memory_ranges_make(struct memory *memory, struct symbols *symbols)
{
    struct memory_range *last = NULL;
    char label[MEMORY_LABEL_BYTES];

    for (size_t i = 0; i < memory->page_count; i++) {
        const struct memory_page *page = &memory->pages[i];
        bool next_to = last != NULL && last->pid == page->pid && last->end == page->address;

        if (!next_to || last->label[0] != '[')
            name(memory, symbols, page, label);
        if (last == NULL || last->pid != page->pid ||
            (page->address > last->end && page->address - last->end > NEAR_BYTES) ||
            strcmp(last->label, label) != 0) {
            if (array_grow(&memory->ranges, memory->range_count, sizeof *last) != 0)
                return -ENOMEM;
            last = &memory->ranges[memory->range_count++];
            *last = (struct memory_range){
                .start = page->address, .pid = page->pid, .first = page->first};
            memcpy(last->label, label, sizeof label);
        }
        add_page(memory, last, page);
    }
    return find_peaks(memory);
}
