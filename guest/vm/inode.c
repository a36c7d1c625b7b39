/* Inodes: their lives, and the pages that areas show. */
#include "guest/vm/inode.h"

#include <errno.h>
#include <string.h>

#include "guest/base/context.h"
#include "guest/memory/heap.h"
#include "guest/memory/phys.h"
#include "guest/vm/inode_contents.h"
#include "guest/vm/inode_pages.h"
#include "guest/vm/vm.h"

#define ALL_PAGES UINT64_MAX

static uint64_t last_number;

struct inode *inode_new(uint32_t mode)
{
    struct inode *inode = heap_alloc(sizeof *inode);

    if (inode == NULL)
        return NULL;
    inode->number = ++last_number;
    inode->mode = mode;
    inode->references = 1;
    inode->times.created = inode_now();
    inode->times.accessed = inode->times.modified = inode->times.changed = inode->times.created;
    return inode;
}

void inode_hold(struct inode *inode)
{
    cross_assert_held();
    inode->references++;
}

void inode_release(struct inode *inode)
{
    cross_assert_held();
    if (--inode->references)
        return;
    inode_pages_free(inode, 0, ALL_PAGES);
    inode_served_forget(inode);
    if (inode->target_owned)
        heap_free((void *)(uint64_t)inode->target, inode->bytes + 1);
    if (inode->freed != NULL)
        inode->freed(inode);
    heap_free(inode, sizeof *inode);
}

const uint8_t *inode_contents(const struct inode *inode)
{
    return inode->written ? NULL : inode->base;
}

uint64_t inode_blocks(const struct inode *inode)
{
    uint64_t own = inode->base != NULL || !inode->base_bytes ? inode->page_count : 0;

    return own * (PAGE_BYTES / 512) + (inode->base_bytes + 511) / 512;
}

/* The page of zeros that stands for holes. */
static uint64_t zero_page(void)
{
    static uint64_t page;

    if (!page) {
        page = phys_alloc(0);
        if (page)
            memset(phys_pointer(page), 0, PAGE_BYTES);
    }
    return page;
}

/* Returns the archive's own page, if it has the whole page and it is aligned; otherwise 0. */
static uint64_t archive_page(const struct inode *inode, uint64_t index)
{
    uint64_t physical = (uint64_t)inode->base - DIRECT_MAP + index * PAGE_BYTES;

    if (inode->base == NULL || index >= inode->base_bytes / PAGE_BYTES || physical % PAGE_BYTES)
        return 0;
    return physical;
}

static bool is_hole(const struct inode *inode, uint64_t index)
{
    return index * PAGE_BYTES >= inode->base_bytes;
}

int inode_own_page(struct inode *inode, uint64_t index, uint64_t **entry)
{
    uint64_t page;

    if (inode->base == NULL && !is_hole(inode, index)) {
        int error = inode_fetch(inode, index);

        *entry = error ? NULL : inode_pages_entry(inode, index);
        return error;
    }
    page = phys_alloc(0);
    *entry = page ? inode_pages_make(inode, index) : NULL;
    if (*entry == NULL) {
        if (page)
            phys_free(page, 0);
        return -ENOMEM;
    }
    inode_fill_page(inode, index, phys_pointer(page));
    **entry = page;
    inode->page_count++;
    return 0;
}

static int page_to_write(struct inode *inode, uint64_t index, uint64_t *entry, uint64_t *physical)
{
    if (entry == NULL || !*entry) {
        int error = inode_own_page(inode, index, &entry);

        if (error)
            return error;
        if (inode->mappings)
            vm_inode_changed(inode, index, index + 1);
    }
    inode_mark_written(inode, entry);
    *entry |= INODE_PAGE_SHOWN;
    *physical = *entry & INODE_PAGE_MASK;
    return 0;
}

int inode_page(struct inode *inode, uint64_t index, bool write, uint64_t *physical)
{
    uint64_t *entry;
    int error;

    cross_assert_held();
    if (index > (uint64_t)INT64_MAX / PAGE_BYTES || index * PAGE_BYTES >= inode->bytes)
        return -ENXIO;
    entry = inode_pages_entry(inode, index);
    if (write)
        return page_to_write(inode, index, entry, physical);
    if (entry != NULL && *entry) {
        *physical = *entry & INODE_PAGE_MASK;
        return 0;
    }
    *physical = is_hole(inode, index) ? zero_page() : archive_page(inode, index);
    if (*physical)
        return 0;
    error = is_hole(inode, index) ? -ENOMEM : inode_own_page(inode, index, &entry);
    if (error)
        return error;
    *physical = *entry & INODE_PAGE_MASK;
    return 0;
}

void inode_present(struct inode *inode, uint64_t index, uint64_t *found, uint64_t count)
{
    uint64_t end = (inode->bytes + PAGE_BYTES - 1) / PAGE_BYTES;

    for (uint64_t i = 0; i < count; i++, index++) {
        const uint64_t *entry = NULL;

        found[i] = 0;
        if (index >= end)
            continue;
        if (inode->page_count)
            entry = inode_pages_entry(inode, index);
        if (entry != NULL && *entry)
            found[i] = *entry & INODE_PAGE_MASK;
        else if (!is_hole(inode, index))
            found[i] = archive_page(inode, index);
    }
}

/* Has areas forget the pages first .. end-1. */
static void inode_forget(struct inode *inode, uint64_t first, uint64_t end)
{
    if (inode->mappings && first < end)
        vm_inode_changed(inode, first, end);
}

/* Clears from..to-1 within one page, after copying the page if the archive has something there.
 * Returns 0 or -errno. */
static int clear_part(struct inode *inode, uint64_t from, uint64_t to)
{
    uint64_t index = from / PAGE_BYTES;
    uint64_t *entry = inode_pages_entry(inode, index);

    if (from >= to)
        return 0;
    if (entry == NULL || !*entry) {
        int error;

        if (from >= inode->base_bytes)
            return 0;
        error = inode_own_page(inode, index, &entry);
        if (error)
            return error;
        inode_forget(inode, index, index + 1);
    }
    memset((uint8_t *)phys_pointer(*entry & INODE_PAGE_MASK) + from % PAGE_BYTES, 0, to - from);
    inode_mark_written(inode, entry);
    return 0;
}

static void inode_shrink(struct inode *inode, uint64_t bytes)
{
    uint64_t first_gone = (bytes + PAGE_BYTES - 1) / PAGE_BYTES;
    uint64_t *entry = inode_pages_entry(inode, bytes / PAGE_BYTES);

    inode->bytes = bytes; /* copies past the end are forgotten too */
    inode_forget(inode, bytes / PAGE_BYTES, ALL_PAGES);
    inode_pages_free(inode, first_gone, ALL_PAGES);
    if (inode->base_bytes > bytes)
        inode->base_bytes = bytes;
    if (bytes % PAGE_BYTES && entry != NULL && *entry)
        (void)clear_part(inode, bytes, first_gone * PAGE_BYTES);
}

/* Clears what areas may have written past the old end: it must not become visible. */
void inode_extend(struct inode *inode, uint64_t bytes)
{
    uint64_t end = inode->bytes, next = (end + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1ull);
    uint64_t *entry = inode_pages_entry(inode, end / PAGE_BYTES);

    if (entry != NULL && *entry & INODE_PAGE_SHOWN && end < next)
        (void)clear_part(inode, end, next);
    inode->bytes = bytes;
}

int inode_truncate(struct inode *inode, uint64_t bytes)
{
    cross_assert_held();
    if (bytes > INT64_MAX)
        return -EFBIG;
    if (bytes < inode->bytes)
        inode_shrink(inode, bytes);
    else if (bytes > inode->bytes)
        inode_extend(inode, bytes);
    inode->bytes = bytes;
    inode_touch(inode);
    return 0;
}

/* Gives the inode pages of zeros for whole pages of the archive's part: there is only one base. */
static int cover_base(struct inode *inode, uint64_t first, uint64_t end)
{
    uint64_t base_end = (inode->base_bytes + PAGE_BYTES - 1) / PAGE_BYTES;

    if (end > base_end)
        end = base_end;
    for (uint64_t index = first; index < end; index++) {
        int error = clear_part(inode, index * PAGE_BYTES, (index + 1) * PAGE_BYTES);

        if (error)
            return error;
    }
    return 0;
}

int inode_punch(struct inode *inode, uint64_t offset, uint64_t bytes)
{
    uint64_t limit = inode->bytes;
    uint64_t end = bytes > limit || offset > limit - bytes ? limit : offset + bytes;
    uint64_t first = (offset + PAGE_BYTES - 1) / PAGE_BYTES, last = end / PAGE_BYTES;
    int error;

    if (offset >= end)
        return 0;
    inode_touch(inode);
    if (end == limit) /* frees the whole last page: nothing follows it */
        last = (end + PAGE_BYTES - 1) / PAGE_BYTES;
    if (first > last)
        return clear_part(inode, offset, end);
    error = clear_part(inode, offset, first * PAGE_BYTES);
    if (!error && last * PAGE_BYTES < end)
        error = clear_part(inode, last * PAGE_BYTES, end);
    if (error)
        return error;
    inode_forget(inode, first, last);
    inode_pages_free(inode, first, last);
    if (inode->base_bytes > first * PAGE_BYTES && last * PAGE_BYTES >= inode->base_bytes) {
        inode->base_bytes = first * PAGE_BYTES;
        return 0;
    }
    return cover_base(inode, first, last);
}
