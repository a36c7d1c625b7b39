/* Finds the libraries of dynamic programs as their own dynamic linker will (ld.so(8),
 * "DESCRIPTION"; for musl its ldso/dynlink.c) and lists them for the archive.
 *
 * Where a directory has variants of a library for certain CPUs, those that the guest's CPU may
 * choose are listed in addition to the plain one.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/pack/libraries/pack_ld_cache.h"
#include "host/pack/list/pack_list.h"

struct pack_object;

struct pack_libraries {
    struct pack_list *list;
    const char *library_path; /* the program's LD_LIBRARY_PATH; NULL: none */
    const char *preload; /* the program's LD_PRELOAD; NULL: none */
    bool any_cpu; /* the guest has the host's CPU, which may be better than x86-64-v3 */
    bool musl;
    struct pack_object **objects; /* in the order of loading; the first is the program */
    size_t count;
    const char **names; /* names by which objects were requested */
    size_t name_count;
    struct pack_ld_cache cache;
    void *cache_bytes;
    size_t cache_size;
    char musl_path[4096];
    uint64_t memory_bytes; /* of all objects' segments */
    char missing[256]; /* the library that was not found */
    char missed_by[256]; /* the object that needs it */
};

/* `interpreter` tells which C library the program has. */
void pack_libraries_init(struct pack_libraries *l, struct pack_list *list, const char *interpreter);
void pack_libraries_free(struct pack_libraries *l);

/* Lists what the ELF file at an absolute path needs, recursively.  The first call is for the
 * program, and includes its preloaded libraries; later calls are for what it may load at run time.
 * Returns 0; -ELIBACC: see `missing`; -ENOEXEC: not an ELF file that Microtome runs; other -errno.
 */
int pack_libraries_add(struct pack_libraries *l, const char *path);

/* Lists a library by name, as dlopen in the program would find it.  Returns -ELIBACC if it does not
 * exist. */
int pack_libraries_add_name(struct pack_libraries *l, const char *name);

/* Returns the path of a listed object, the program first; NULL after the last. */
const char *pack_libraries_path(const struct pack_libraries *l, size_t index);

/* Returns the default directories of the distributions' GNU linkers, NULL-terminated. */
const char *const *pack_libraries_directories(void);
