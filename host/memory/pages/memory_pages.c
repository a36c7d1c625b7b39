/* The table of pages, and the sums of looks. */
#include <errno.h>
#include <stdlib.h>

#include "host/memory/pages/memory.h"
#include "lib/trace/trace_pages.h"

#define LARGE_PAGES 512u
#define FIRST_PLACES 4096u
#define PAGES_MAX (1u << 24) /* entries of the table: 64 GiB of 4-KiB pages */
#define STEPS_MAX (1ull << 31) /* touches of pages in all looks */

struct table {
    struct memory *memory;
    struct memory_page *places;
    size_t mask;
    size_t used;
    uint64_t steps;
};

static size_t place_of(const struct table *t, uint64_t address, uint32_t pid, uint32_t pages)
{
    uint64_t hash = (address / MEMORY_PAGE_BYTES + ((uint64_t)pid << 40)) * 0x9e3779b97f4a7c15ull;
    size_t i = (hash >> 20) & t->mask;

    while (t->places[i].pages != 0 && (t->places[i].address != address || t->places[i].pid != pid ||
                                       t->places[i].pages != pages))
        i = (i + 1) & t->mask;
    return i;
}

static int grow(struct table *t)
{
    struct table larger = *t;

    larger.mask = t->mask != 0 ? 2 * t->mask + 1 : FIRST_PLACES - 1;
    larger.places = calloc(larger.mask + 1, sizeof larger.places[0]);
    if (larger.places == NULL)
        return -ENOMEM;
    for (size_t i = 0; t->mask != 0 && i <= t->mask; i++) {
        const struct memory_page *p = &t->places[i];

        if (p->pages != 0)
            larger.places[place_of(&larger, p->address, p->pid, p->pages)] = *p;
    }
    free(t->places);
    *t = larger;
    return 0;
}

/* A page was touched in look `n`, by a run with `flags`. */
static int touch(struct table *t, const struct memory_run *run, uint64_t address, uint32_t pages)
{
    struct memory_look *look = &t->memory->looks[run->look];
    uint32_t n = run->look;
    struct memory_page *page;
    bool fresh;

    if (2 * t->used >= t->mask && grow(t) != 0)
        return -ENOMEM;
    page = &t->places[place_of(t, address, run->pid, pages)];
    fresh = page->pages == 0;
    if (fresh && t->used == PAGES_MAX) {
        t->memory->ignored++;
        return 0;
    }
    if (fresh) {
        *page = (struct memory_page){
            .address = address, .pid = run->pid, .pages = (uint16_t)pages, .first = n, .last = n};
        t->used++;
        look->fresh += pages;
    }
    for (int w = 0; w < MEMORY_WINDOWS; w++)
        if (fresh || page->left >> w & 1)
            look->set[w] += pages;
    page->left = 0;
    if (fresh || page->last != n) {
        page->looks++;
        t->memory->touches += pages;
        t->memory->again += !fresh && page->last + 1 == n ? pages : 0;
    }
    if (run->flags & TRACE_PAGES_WRITTEN) {
        page->written++;
        look->written += pages;
    }
    page->last = n;
    return 0;
}

static uint32_t unit_of(const struct memory_run *run)
{
    bool whole =
        run->address / MEMORY_PAGE_BYTES % LARGE_PAGES == 0 && run->pages % LARGE_PAGES == 0;

    return run->flags & TRACE_PAGES_LARGE && whole ? LARGE_PAGES : 1;
}

static int touch_all(struct table *t, const struct memory_run *run)
{
    uint32_t unit = unit_of(run);
    int error = 0;

    if (run->pages / unit > PAGES_MAX || t->steps + run->pages / unit > STEPS_MAX) {
        t->memory->ignored++;
        return 0;
    }
    t->steps += run->pages / unit;
    for (uint64_t i = 0; i < run->pages && error == 0; i += unit)
        error = touch(t, run, run->address + i * MEMORY_PAGE_BYTES, unit);
    return error;
}

/* Returns the pages of a run whose look leaves a window and that were not touched since. */
static uint64_t leave(struct table *t, const struct memory_run *run, int window)
{
    uint32_t unit = unit_of(run);
    uint64_t left = 0;

    if (run->pages / unit > PAGES_MAX)
        return 0;
    for (uint64_t i = 0; i < run->pages; i += unit) {
        struct memory_page *page =
            &t->places[place_of(t, run->address + i * MEMORY_PAGE_BYTES, run->pid, unit)];

        if (page->pages == 0 || page->last != run->look || page->left >> window & 1)
            continue;
        page->left |= (uint16_t)(1 << window);
        left += unit;
    }
    return left;
}

static bool goes_on(const struct memory_run *before, const struct memory_run *run)
{
    return before->look == run->look && before->pid == run->pid &&
           before->address + before->pages * MEMORY_PAGE_BYTES == run->address;
}

/* Goes through the looks once; a cursor for each window follows at its distance. */
static int go_through(struct table *t)
{
    struct memory *memory = t->memory;
    size_t next = 0, behind[MEMORY_WINDOWS] = {0};
    int error = 0;

    for (uint32_t n = 0; n < memory->look_count && error == 0; n++) {
        for (int w = 0; w < MEMORY_WINDOWS; w++) {
            uint64_t left = 0;

            while (behind[w] < next && memory->runs[behind[w]].look + memory_window[w] <= n)
                left += leave(t, &memory->runs[behind[w]++], w);
            memory->looks[n].set[w] = (n != 0 ? memory->looks[n - 1].set[w] : 0) - left;
        }
        while (next < memory->run_count && memory->runs[next].look == n && error == 0) {
            memory->stretches +=
                next == 0 || !goes_on(&memory->runs[next - 1], &memory->runs[next]);
            error = touch_all(t, &memory->runs[next++]);
        }
    }
    return error;
}

static int by_address(const void *a, const void *b)
{
    const struct memory_page *x = a, *y = b;

    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return x->address < y->address ? -1 : x->address > y->address;
}

int memory_pages_make(struct memory *memory)
{
    struct table t = {.memory = memory};
    int error = grow(&t);

    if (error == 0)
        error = go_through(&t);
    if (error != 0) {
        free(t.places);
        return error;
    }
    memory->pages = t.places;
    for (size_t i = 0; i <= t.mask; i++) {
        const struct memory_page page = t.places[i];

        if (page.pages == 0)
            continue;
        memory->pages[memory->page_count++] = page;
        memory->touched += page.pages;
        memory->written += page.written != 0 ? page.pages : 0;
        memory->cold += memory_is_cold(memory, page.last) ? page.pages : 0;
    }
    qsort(memory->pages, memory->page_count, sizeof memory->pages[0], by_address);
    return 0;
}
