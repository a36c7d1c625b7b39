/* A file for tests of areas: pages of its own, made when they are first asked for, byte 0 of each
 * being its index + 1.  Include after fake_phys.h, instead of linking guest/vm/inode.c.
 */
#ifndef TESTS_UNIT_GUEST_FAKE_INODE_H
#define TESTS_UNIT_GUEST_FAKE_INODE_H

#include <errno.h>

#include "guest/fs/fs.h"
#include "guest/memory/page.h"
#include "guest/vm/inode.h"
#include "guest/vm/inode_pages.c"
#include "tests/unit/test.h"

#define FAKE_PAGES 64u

static struct inode fake_file;
static uint64_t fake_pages[FAKE_PAGES];
static unsigned fake_writes; /* pages asked for to be written */

static __attribute__((unused)) struct inode *fake_inode_open(uint64_t bytes)
{
    memset(&fake_file, 0, sizeof fake_file);
    memset(fake_pages, 0, sizeof fake_pages);
    fake_file.references = 1;
    fake_file.bytes = bytes;
    fake_writes = 0;
    return &fake_file;
}

void inode_hold(struct inode *inode)
{
    inode->references++;
}

void inode_release(struct inode *inode)
{
    if (--inode->references || inode == &fake_file)
        return;
    inode_pages_free(inode, 0, UINT64_MAX);
    heap_free(inode, sizeof *inode);
}

void fs_entry_hold(struct fs_entry *entry)
{
    assert_null(entry);
}

void fs_entry_release(struct fs_entry *entry)
{
    assert_null(entry);
}

/* Of memory that processes share. */
static int fake_shared_page(struct inode *inode, uint64_t index, uint64_t *physical)
{
    uint64_t *entry = inode_pages_make(inode, index);
    uint64_t page = entry && !*entry ? phys_alloc(0) : 0;

    if (!entry || (!*entry && !page))
        return -ENOMEM;
    if (page) {
        memset(phys_pointer(page), 0, PAGE_BYTES);
        inode_give(inode, index, page);
    }
    *physical = *entry & INODE_PAGE_MASK;
    return 0;
}

int inode_page(struct inode *inode, uint64_t index, bool write, uint64_t *physical)
{
    if (inode != &fake_file)
        return fake_shared_page(inode, index, physical);
    if (index * PAGE_BYTES >= inode->bytes)
        return -ENXIO;
    if (!fake_pages[index]) {
        fake_pages[index] = phys_alloc(0);
        if (!fake_pages[index])
            return -ENOMEM;
        memset(phys_pointer(fake_pages[index]), 0, PAGE_BYTES);
        *(uint8_t *)phys_pointer(fake_pages[index]) = (uint8_t)(index + 1);
    }
    fake_writes += write;
    *physical = fake_pages[index];
    return 0;
}

struct inode *inode_new(uint32_t mode)
{
    struct inode *inode = heap_alloc(sizeof *inode);

    if (inode == NULL)
        return NULL;
    inode->mode = mode;
    inode->references = 1;
    return inode;
}

void inode_present(struct inode *inode, uint64_t index, uint64_t *found, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++, index++)
        found[i] = inode == &fake_file && index < FAKE_PAGES ? fake_pages[index] : 0;
}

int inode_punch(struct inode *inode, uint64_t offset, uint64_t bytes)
{
    (void)inode;
    (void)offset;
    (void)bytes;
    return 0;
}

static void fake_copy(void *to, const void *from)
{
    memcpy(to, from, PAGE_BYTES);
}

void (*page_copy)(void *to, const void *from) = fake_copy;

void page_copy_bytes(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

#endif
