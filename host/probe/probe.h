/* Turns what `hr run --probe` names into the table of points that the kernel places
 * (docs/architecture/probes.md).
 *
 * ELF files are hostile input.  Never prints.
 */
#pragma once

#include <limits.h>
#include <stddef.h>

#include "host/base/run_failure.h"
#include "host/probe/probe_code.h"
#include "host/probe/probe_file.h"
#include "host/probe/probe_table.h"

struct probe_object { /* a file that the program consists of */
    const char *path; /* as the guest sees it, links resolved */
    const char *place; /* where it is here */
    const char *name; /* another path that leads to it; NULL: none */
    bool allocates; /* --alloc-library names it: it has to have an allocator */
};

struct probe_wish {
    const char *const *specs;
    size_t spec_count;
    bool alloc; /* the allocators of all objects, too */
    const struct probe_object *objects; /* the program first, then its libraries as they are
                                           searched for symbols */
    size_t object_count;
    /* Finds an object that is none of them, by path or name, and stores its path and place.
     * Returns 0, or -1 with the failure filled. */
    int (*find)(void *context, const char *name, char path[PATH_MAX], char place[PATH_MAX],
                struct run_failure *failure);
    void *context;
};

struct probe {
    const struct probe_wish *wish;
    struct run_failure *failure;
    struct probe_file **files; /* the objects first, and what was found; owned */
    size_t file_count;
    struct probe_code_source source;
    struct probe_code code;
    struct probe_table table;
    size_t left_out; /* functions of globs that cannot have probes */
    char left_out_first[256]; /* one of them, and why */
    size_t overlapping; /* functions of globs that share code with others */
};

/* Finds what the wish names.  Returns 0, or -1 with the failure filled.  Call probe_free in any
 * case. */
int probe_find(struct probe *p, const struct probe_wish *wish, struct run_failure *failure);
void probe_free(struct probe *p);
