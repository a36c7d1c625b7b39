/* The objects that a specification is about.  For host/probe/probe_find.c. */
#pragma once

#include "host/probe/probe.h"
#include "host/probe/probe_spec.h"

/* Lists the objects of the wish.  Returns 0 or -ENOMEM. */
int probe_object_open_all(struct probe *p);

/* Stores the objects of a specification in *files, which the caller frees: those of its OBJECT, or
 * all of the wish.  Returns 0, or -1 with the failure filled. */
int probe_object_select(struct probe *p, const struct probe_spec *spec, struct probe_file ***files,
                        size_t *count);

/* Returns whether a file may be called that: by its own name, a glob of it, or what its name begins
 * with, as libc for libc.so.6. */
bool probe_object_is_called(const char *path, const char *name);
