/* Small objects in pages of their own size each. */
#include "guest/memory/heap.h"

#include <stdint.h>
#include <string.h>

#include "guest/base/context.h"
#include "guest/memory/page.h"
#include "guest/memory/phys.h"
#include "lib/array.h"

struct object { /* a free one */
    struct object *next;
};

struct heap_page { /* at the start of each page; objects follow */
    struct heap_page *next, *previous; /* pages of this size with a free object */
    struct object *free;
    uint32_t used;
    uint32_t size; /* index of sizes[] */
};
_Static_assert(sizeof(struct heap_page) % 16 == 0, "objects are aligned");

static const uint16_t sizes[] = {16, 32, 48, 64, 96, 128, 160, 208, 256, 336, 448, 576, 992, 2032};
#define SIZES ARRAY_COUNT(sizes)
#define SIZE_MAX_SMALL 2032u

static struct heap_page *pages[SIZES];

static uint32_t size_of(size_t bytes)
{
    uint32_t size = 0;

    while (sizes[size] < bytes)
        size++;
    return size;
}

static void link_page(struct heap_page *page)
{
    page->previous = NULL;
    page->next = pages[page->size];
    if (page->next != NULL)
        page->next->previous = page;
    pages[page->size] = page;
}

static void unlink_page(struct heap_page *page)
{
    if (page->next != NULL)
        page->next->previous = page->previous;
    if (page->previous != NULL)
        page->previous->next = page->next;
    else
        pages[page->size] = page->next;
}

static struct heap_page *new_page(uint32_t size)
{
    uint64_t block = phys_alloc(0);
    struct heap_page *page;
    uint8_t *at;

    if (!block)
        return NULL;
    page = phys_pointer(block);
    *page = (struct heap_page){.size = size};
    at = (uint8_t *)(page + 1);
    for (uint32_t n = (PAGE_BYTES - sizeof *page) / sizes[size]; n; n--, at += sizes[size]) {
        struct object *object = (struct object *)at;

        object->next = page->free;
        page->free = object;
    }
    link_page(page);
    return page;
}

void *heap_alloc(size_t bytes)
{
    struct heap_page *page;
    struct object *object;
    uint32_t size;

    cross_assert_held();
    if (bytes > SIZE_MAX_SMALL) {
        unsigned order = phys_order(bytes);
        uint64_t block = order <= PHYS_ORDER_MAX ? phys_alloc(order) : 0;

        for (uint64_t i = 0; block && i < 1ull << order; i++)
            page_zero(phys_pointer(block + i * PAGE_BYTES));
        return block ? phys_pointer(block) : NULL;
    }
    size = size_of(bytes);
    page = pages[size] != NULL ? pages[size] : new_page(size);
    if (page == NULL)
        return NULL;
    object = page->free;
    page->free = object->next;
    page->used++;
    if (page->free == NULL)
        unlink_page(page);
    return memset(object, 0, sizes[size]);
}

void heap_free(void *object, size_t bytes)
{
    struct heap_page *page = (struct heap_page *)((uint64_t)object & ~(PAGE_BYTES - 1ull));
    struct object *freed = object;

    cross_assert_held();
    if (object == NULL)
        return;
    if (bytes > SIZE_MAX_SMALL) {
        phys_free((uint64_t)object - DIRECT_MAP, phys_order(bytes));
        return;
    }
    if (page->free == NULL)
        link_page(page);
    freed->next = page->free;
    page->free = freed;
    if (--page->used == 0 &&
        (page->next != NULL || page->previous != NULL)) { /* keeps one page for the next object */
        unlink_page(page);
        phys_free((uint64_t)page - DIRECT_MAP, 0);
    }
}
