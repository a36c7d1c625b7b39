/* The tree of files for tests: the kernel's own code over fake_phys.h.  Include once. */
#ifndef TESTS_UNIT_GUEST_FAKE_TREE_H
#define TESTS_UNIT_GUEST_FAKE_TREE_H

#include "tests/unit/guest/fake_phys.h"

#include <errno.h>
#include <stdio.h>

#include "guest/fs/fs_absent.c"
#include "guest/fs/fs_archive.c"
#include "guest/fs/fs_change.c"
#include "guest/fs/fs_served.c"
#include "guest/fs/fs_tree.c"
#include "guest/fs/fs_walk.c"
#include "guest/memory/heap.c"
#include "guest/vm/inode.c"
#include "guest/vm/inode_contents.c"
#include "guest/vm/inode_pages.c"
#include "guest/vm/inode_served.c"
#include "lib/program/cpio.h"
#include "tests/unit/guest/fake_serve.h"
#include "tests/unit/test.h"

static char last_log[256];

/* Forgets what a tree before this one left in static variables. */
static __attribute__((unused)) void fake_tree_reset(void)
{
    memset(pages, 0, sizeof pages);
    absent_names = NULL;
    lacking = 0;
    active = false;
    fake_root = NULL;
    fake_error = 0;
    served_ring = (struct inode){.served_next = &served_ring, .served_previous = &served_ring};
    inode_fetch = fs_served_fetch;
}

void log_line(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(last_log, sizeof last_log, format, arguments);
    va_end(arguments);
}

uint64_t inode_now(void)
{
    return 1;
}

void vm_inode_changed(struct inode *inode, uint64_t first_page, uint64_t end_page)
{
    (void)inode;
    (void)first_page;
    (void)end_page;
}

int copy_from_user(void *to, uint64_t from, size_t bytes)
{
    memcpy(to, (const void *)from, bytes);
    return 0;
}

int copy_to_user(uint64_t to, const void *from, size_t bytes)
{
    memcpy((void *)to, from, bytes);
    return 0;
}

int uaccess_zero(uint64_t to, size_t bytes)
{
    memset((void *)to, 0, bytes);
    return 0;
}

#endif
