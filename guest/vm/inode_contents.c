/* Reads and writes what files contain. */
#include "guest/vm/inode_contents.h"

#include <errno.h>
#include <string.h>

#include "guest/memory/phys.h"
#include "guest/vm/inode_pages.h"
#include "guest/vm/uaccess.h"
#include "guest/vm/vm.h"

#define RESERVE_SHARE 64u /* of all memory is not for files, so that the program can continue */

void inode_fill_page(const struct inode *inode, uint64_t index, void *page)
{
    uint64_t start = index * PAGE_BYTES, have = 0;

    if (start < inode->base_bytes) {
        have = inode->base_bytes - start;
        if (have > PAGE_BYTES)
            have = PAGE_BYTES;
        memcpy(page, inode->base + start, have);
    }
    memset((uint8_t *)page + have, 0, PAGE_BYTES - have);
}

void inode_mark_written(struct inode *inode, uint64_t *entry)
{
    if (!(*entry & INODE_PAGE_UNSENT))
        inode->unsent_pages++;
    *entry |= INODE_PAGE_UNSENT;
    inode->changed = inode->written = true;
}

void inode_touch(struct inode *inode)
{
    inode->changed = inode->written = true;
    inode->times.modified = inode->times.changed = inode_now();
}

/* The other side of a copy: memory of the kernel or of the program. */
struct memory {
    uint64_t address;
    bool user;
};

static int copy_out(const struct memory *m, uint64_t done, const void *from, uint64_t bytes)
{
    if (m->user)
        return copy_to_user(m->address + done, from, bytes);
    memcpy((uint8_t *)m->address + done, from, bytes);
    return 0;
}

static int put_zeros(const struct memory *m, uint64_t done, uint64_t bytes)
{
    if (m->user)
        return uaccess_zero(m->address + done, bytes);
    memset((uint8_t *)m->address + done, 0, bytes);
    return 0;
}

static int copy_in(const struct memory *m, uint64_t done, void *to, uint64_t bytes)
{
    if (m->user)
        return copy_from_user(to, m->address + done, bytes);
    memcpy(to, (const uint8_t *)m->address + done, bytes);
    return 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Copies from `at` up to the end of its page, or of a stretch of the archive.  Returns the bytes.
 */
static int64_t read_piece(struct inode *inode, uint64_t at, const struct memory *m, uint64_t done,
                          uint64_t bytes)
{
    uint64_t *entry = inode_pages_entry(inode, at / PAGE_BYTES);
    uint64_t part = least(bytes, PAGE_BYTES - at % PAGE_BYTES);
    int error = 0;

    if (inode->base == NULL && at < inode->base_bytes && (entry == NULL || !*entry))
        error = inode_own_page(inode, at / PAGE_BYTES, &entry);
    if (error)
        return error;
    if (entry != NULL && *entry) {
        const uint8_t *page = phys_pointer(*entry & INODE_PAGE_MASK);

        error = copy_out(m, done, page + at % PAGE_BYTES, part);
    } else if (at < inode->base_bytes) {
        part = least(inode->page_count ? part : bytes, inode->base_bytes - at);
        error = copy_out(m, done, inode->base + at, part);
    } else {
        error = put_zeros(m, done, part);
    }
    return error ? error : (int64_t)part;
}

static int64_t read_contents(struct inode *inode, uint64_t offset, const struct memory *m,
                             uint64_t bytes)
{
    uint64_t done = 0;
    int64_t error = 0;

    if (offset >= inode->bytes)
        return 0;
    bytes = least(bytes, inode->bytes - offset);
    inode->readers++;
    while (done < bytes) {
        int64_t part = read_piece(inode, offset + done, m, done, bytes - done);

        if (part < 0) {
            error = part;
            break;
        }
        done += (uint64_t)part;
    }
    inode->readers--;
    return done ? (int64_t)done : error;
}

/* Writes to a page that the inode does not own yet.  The copy may fault, which may add that page.
 */
static int write_new_page(struct inode *inode, uint64_t at, const struct memory *m, uint64_t done,
                          uint64_t bytes)
{
    uint64_t index = at / PAGE_BYTES, block, *entry;
    uint8_t *page;
    int error;

    if (phys_free_bytes() < phys_total_bytes() / RESERVE_SHARE)
        return -ENOMEM;
    block = phys_alloc(0);
    if (!block)
        return -ENOMEM;
    page = phys_pointer(block);
    if (bytes < PAGE_BYTES)
        inode_fill_page(inode, index, page);
    error = copy_in(m, done, page + at % PAGE_BYTES, bytes);
    entry = error ? NULL : inode_pages_make(inode, index);
    if (entry == NULL || *entry) {
        if (entry != NULL)
            memcpy((uint8_t *)phys_pointer(*entry & INODE_PAGE_MASK) + at % PAGE_BYTES,
                   page + at % PAGE_BYTES, bytes);
        phys_free(block, 0);
        if (entry == NULL)
            return error ? error : -ENOMEM;
    } else {
        *entry = block;
        inode->page_count++;
        if (inode->mappings)
            vm_inode_changed(inode, index, index + 1);
    }
    inode_mark_written(inode, entry);
    return 0;
}

static int write_piece(struct inode *inode, uint64_t at, const struct memory *m, uint64_t done,
                       uint64_t bytes)
{
    uint64_t *entry = inode_pages_entry(inode, at / PAGE_BYTES);
    int error = 0;

    if (entry == NULL || !*entry) {
        if (inode->base != NULL || at / PAGE_BYTES * PAGE_BYTES >= inode->base_bytes ||
            bytes == PAGE_BYTES)
            return write_new_page(inode, at, m, done, bytes);
        error = inode_own_page(inode, at / PAGE_BYTES, &entry);
    }
    if (error)
        return error;
    inode_mark_written(inode, entry);
    return copy_in(m, done, (uint8_t *)phys_pointer(*entry & INODE_PAGE_MASK) + at % PAGE_BYTES,
                   bytes);
}

static int64_t write_contents(struct inode *inode, uint64_t offset, const struct memory *m,
                              uint64_t bytes)
{
    uint64_t done = 0, old_bytes = inode->bytes;
    int error = 0;

    if (!bytes)
        return 0;
    if (offset >= INT64_MAX)
        return -EFBIG;
    bytes = least(bytes, (uint64_t)INT64_MAX - offset);
    if (offset > inode->bytes)
        inode_extend(inode,
                     offset); /* clears the bytes past the old end; no reader runs until then */
    while (done < bytes && !error) {
        uint64_t part = least(bytes - done, PAGE_BYTES - (offset + done) % PAGE_BYTES);

        error = write_piece(inode, offset + done, m, done, part);
        if (!error)
            done += part;
        if (!error && offset + done > inode->bytes)
            inode->bytes = offset + done;
    }
    if (done)
        inode_touch(inode);
    else
        inode->bytes = old_bytes;
    return done ? (int64_t)done : error;
}

int64_t inode_read(struct inode *inode, uint64_t offset, void *to, uint64_t bytes)
{
    return read_contents(inode, offset, &(struct memory){.address = (uint64_t)to}, bytes);
}

int64_t inode_read_user(struct inode *inode, uint64_t offset, uint64_t user, uint64_t bytes)
{
    return read_contents(inode, offset, &(struct memory){.address = user, .user = true}, bytes);
}

int64_t inode_write(struct inode *inode, uint64_t offset, const void *from, uint64_t bytes)
{
    return write_contents(inode, offset, &(struct memory){.address = (uint64_t)from}, bytes);
}

int64_t inode_write_user(struct inode *inode, uint64_t offset, uint64_t user, uint64_t bytes)
{
    return write_contents(inode, offset, &(struct memory){.address = user, .user = true}, bytes);
}

static bool has_data(struct inode *inode, uint64_t index)
{
    const uint64_t *entry = inode_pages_entry(inode, index);

    return (entry != NULL && *entry) || index * PAGE_BYTES < inode->base_bytes;
}

uint64_t inode_seek(struct inode *inode, uint64_t offset, bool data)
{
    uint64_t index = offset / PAGE_BYTES, found;

    if (offset >= inode->bytes)
        return UINT64_MAX;
    if (data) {
        if (!has_data(inode, index) && inode_pages_next(inode, &index) == NULL)
            return UINT64_MAX;
    } else {
        while (index * PAGE_BYTES < inode->bytes && has_data(inode, index))
            index++;
    }
    found = index * PAGE_BYTES > offset ? index * PAGE_BYTES : offset;
    if (found >= inode->bytes)
        return data ? UINT64_MAX : inode->bytes;
    return found;
}

const void *inode_next_unsent(struct inode *inode, uint64_t *index, bool last)
{
    uint64_t *entry;

    for (; (entry = inode_pages_next(inode, index)) != NULL; ++*index) {
        if (*entry & INODE_PAGE_UNSENT) {
            *entry &= ~(uint64_t)INODE_PAGE_UNSENT;
            inode->unsent_pages--;
        } else if (!last || !(*entry & INODE_PAGE_SHOWN)) {
            continue;
        }
        inode->sent = true;
        return phys_pointer(*entry & INODE_PAGE_MASK);
    }
    return NULL;
}
