/* The allocators of a program: which functions they are, and where calls of them begin and end. For
 * host/probe/probe_find.c. */
#pragma once

#include "host/probe/probe.h"

/* Adds the allocators of all objects of the wish.  Returns 0, or -1 with the failure filled. */
int probe_heap_find(struct probe *p);
