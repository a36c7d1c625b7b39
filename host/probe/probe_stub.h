/* Where a jump out of a function leads, as far as calls of allocators have to know.  For
 * host/probe/probe_heap.c; hostile input; never prints. */
#pragma once

#include "host/probe/probe_file.h"

enum probe_stub {
    PROBE_STUB_NONE, /* code of this file */
    PROBE_STUB_OTHER, /* a function that the linker finds when the program runs */
    PROBE_STUB_MEMSET, /* memset, by whichever way */
};

/* Of NONE, stores where the code is: a stub may lead to a function of this file. */
enum probe_stub probe_stub_at(struct probe_file *f, uint64_t address, uint64_t *target);
