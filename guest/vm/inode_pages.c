/* The radix tree of an inode's own pages. */
#include "guest/vm/inode_pages.h"

#include <errno.h>
#include <string.h>

#include "guest/memory/phys.h"

#define BITS 9u
#define ENTRIES (1u << BITS)
#define HEIGHT_MASK 0xfull
#define HEIGHT_MAX 6u /* 2^54 pages: more than INT64_MAX bytes */

static unsigned height_of(const struct inode *inode)
{
    return (unsigned)(inode->pages & HEIGHT_MASK);
}

/* Returns whether a tree of that height has a place for the page. */
static bool inode_pages_covers(unsigned height, uint64_t index)
{
    return height >= HEIGHT_MAX || index >> BITS * height == 0;
}

static uint64_t *node_of(uint64_t entry)
{
    return phys_pointer(entry & INODE_PAGE_MASK);
}

static unsigned slot_of(uint64_t index, unsigned height)
{
    return index >> BITS * (height - 1) & (ENTRIES - 1);
}

uint64_t *inode_pages_entry(struct inode *inode, uint64_t index)
{
    unsigned height = height_of(inode);
    uint64_t *node;

    if (!index)
        return &inode->first_page;
    if (!inode->pages || !inode_pages_covers(height, index))
        return NULL;
    node = node_of(inode->pages);
    for (; height > 1; height--) {
        uint64_t entry = node[slot_of(index, height)];

        if (!entry)
            return NULL;
        node = node_of(entry);
    }
    return &node[slot_of(index, height)];
}

static uint64_t new_node(void)
{
    uint64_t block = phys_alloc(0);

    if (block)
        memset(phys_pointer(block), 0, PAGE_BYTES);
    return block;
}

/* Puts nodes above the root until it covers the page. */
static bool inode_pages_grow(struct inode *inode, uint64_t index)
{
    while (!inode->pages || !inode_pages_covers(height_of(inode), index)) {
        uint64_t root = new_node();

        if (!root)
            return false;
        if (inode->pages) {
            node_of(root)[0] = inode->pages & INODE_PAGE_MASK;
            inode->pages = root | (height_of(inode) + 1);
        } else {
            inode->pages = root | 1;
        }
    }
    return true;
}

uint64_t *inode_pages_make(struct inode *inode, uint64_t index)
{
    uint64_t *node;

    if (!index)
        return &inode->first_page;
    if (!inode_pages_grow(inode, index))
        return NULL;
    node = node_of(inode->pages);
    for (unsigned height = height_of(inode); height > 1; height--) {
        uint64_t *entry = &node[slot_of(index, height)];

        if (!*entry)
            *entry = new_node();
        if (!*entry)
            return NULL;
        node = node_of(*entry);
    }
    return &node[slot_of(index, 1)];
}

/* Finds the first page from *index on below a node whose first page is `base`. */
static uint64_t *next_below(uint64_t *node, unsigned height, uint64_t base, uint64_t *index)
{
    uint64_t each = 1ull << BITS * (height - 1); /* pages of one entry */
    unsigned slot = *index > base ? (unsigned)((*index - base) / each) : 0;

    for (; slot < ENTRIES; slot++) {
        uint64_t first = base + slot * each;
        uint64_t *found;

        if (!node[slot])
            continue;
        if (*index < first)
            *index = first;
        if (height == 1)
            return &node[slot];
        found = next_below(node_of(node[slot]), height - 1, first, index);
        if (found != NULL)
            return found;
    }
    return NULL;
}

uint64_t *inode_pages_next(struct inode *inode, uint64_t *index)
{
    if (!*index && inode->first_page)
        return &inode->first_page;
    if (!inode->pages || !inode_pages_covers(height_of(inode), *index))
        return NULL;
    return next_below(node_of(inode->pages), height_of(inode), 0, index);
}

static void drop_page(struct inode *inode, uint64_t entry)
{
    phys_free(entry & INODE_PAGE_MASK, 0);
    inode->page_count--;
    inode->stale |= inode->sent;
    if (entry & INODE_PAGE_UNSENT)
        inode->unsent_pages--;
}

/* Frees the pages first .. end-1 below a node.  Returns true if the node is empty. */
static bool free_below(struct inode *inode, uint64_t *node, unsigned height, uint64_t base,
                       uint64_t first, uint64_t end)
{
    uint64_t each = 1ull << BITS * (height - 1);
    bool empty = true;

    for (unsigned slot = 0; slot < ENTRIES; slot++) {
        uint64_t low = base + slot * each, high = low + each;

        if (!node[slot])
            continue;
        if (high > first && low < end) {
            if (height == 1) {
                drop_page(inode, node[slot]);
                node[slot] = 0;
            } else if (free_below(inode, node_of(node[slot]), height - 1, low, first, end)) {
                phys_free(node[slot] & INODE_PAGE_MASK, 0);
                node[slot] = 0;
            }
        }
        empty &= !node[slot];
    }
    return empty;
}

void inode_pages_free(struct inode *inode, uint64_t first, uint64_t end)
{
    if (!first && end && inode->first_page) {
        drop_page(inode, inode->first_page);
        inode->first_page = 0;
    }
    if (!inode->pages || first >= end)
        return;
    if (free_below(inode, node_of(inode->pages), height_of(inode), 0, first, end)) {
        phys_free(inode->pages & INODE_PAGE_MASK, 0);
        inode->pages = 0;
    }
}

int inode_give(struct inode *inode, uint64_t index, uint64_t page)
{
    uint64_t *entry = inode_pages_make(inode, index);

    if (entry == NULL)
        return -ENOMEM;
    *entry = page | INODE_PAGE_SHOWN;
    inode->page_count++;
    return 0;
}

void inode_take_all(struct inode *inode)
{
    uint64_t *entry;

    for (uint64_t index = 0; (entry = inode_pages_next(inode, &index)) != NULL; index++) {
        *entry = 0;
        inode->page_count--;
    }
}
