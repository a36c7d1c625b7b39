/* Contents that come from the host: pages that can be fetched again. */
#include <errno.h>
#include <string.h>

#include "guest/memory/phys.h"
#include "guest/vm/inode_contents.h"
#include "guest/vm/inode_pages.h"

int (*inode_fetch)(struct inode *inode, uint64_t index);

static struct inode served_ring = {.served_next = &served_ring,
                                   .served_previous = &served_ring}; /* of a ring */

void inode_served_forget(struct inode *inode)
{
    if (inode->served_next == NULL)
        return;
    inode->served_next->served_previous = inode->served_previous;
    inode->served_previous->served_next = inode->served_next;
    inode->served_next = inode->served_previous = NULL;
}

static void served_newest(struct inode *inode)
{
    inode_served_forget(inode);
    inode->served_next = &served_ring;
    inode->served_previous = served_ring.served_previous;
    inode->served_previous->served_next = inode;
    served_ring.served_previous = inode;
}

static int served_add_page(struct inode *inode, uint64_t index, const uint8_t *data, uint64_t bytes)
{
    uint64_t *entry = inode_pages_entry(inode, index), page;

    if (entry != NULL && *entry)
        return 0;
    page = phys_alloc(0);
    entry = page ? inode_pages_make(inode, index) : NULL;
    if (entry == NULL) {
        if (page)
            phys_free(page, 0);
        return -ENOMEM;
    }
    memcpy(phys_pointer(page), data, bytes);
    memset((uint8_t *)phys_pointer(page) + bytes, 0, PAGE_BYTES - bytes);
    *entry = page;
    inode->page_count++;
    return 0;
}

int inode_add_block(struct inode *inode, uint64_t first, const uint8_t *data, uint64_t bytes,
                    uint64_t index)
{
    uint64_t end = inode->base_bytes - first * PAGE_BYTES; /* of what the inode shows */
    int error = -EIO;

    served_newest(inode);
    for (uint64_t i = 0; i * PAGE_BYTES < end && i * PAGE_BYTES < bytes; i++) {
        uint64_t wanted = end - i * PAGE_BYTES, part = bytes - i * PAGE_BYTES;
        int added = 0;

        if (wanted > PAGE_BYTES)
            wanted = PAGE_BYTES;
        if (part < wanted)
            break; /* the host has less than it said */
        added = served_add_page(inode, first + i, data + i * PAGE_BYTES, wanted);
        if (first + i == index)
            error = added;
    }
    return error;
}

void inode_make_room(const struct inode *fetching, uint64_t bytes)
{
    struct inode *inode = served_ring.served_next, *next;

    for (; inode != &served_ring && phys_free_bytes() < bytes; inode = next) {
        next = inode->served_next;
        if (inode->written || inode->mappings || inode->readers > (inode == fetching))
            continue;
        inode_pages_free(inode, 0, UINT64_MAX);
        inode_served_forget(inode);
    }
}
