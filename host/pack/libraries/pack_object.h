/* One ELF file of a dynamic program, as its dynamic linker sees it. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pack_object {
    struct pack_object *loader; /* the object that needs it; NULL: the program */
    char *path; /* path by which it was found */
    char *origin; /* meaning of $ORIGIN in it */
    char *soname; /* NULL if there is none, as are the next two */
    char *rpath;
    char *runpath;
    char **needed; /* names, NULL-terminated */
    bool no_default;
    uint64_t memory_bytes;
    dev_t device;
    ino_t inode;
};

/* Reads the ELF file at `source`, known to the program as `path`.  Returns -ENOEXEC if it is not
 * one for x86-64. */
int pack_object_read(const char *source, const char *path, struct pack_object **object);
void pack_object_free(struct pack_object *object);

/* Expands $ORIGIN, $LIB and $PLATFORM, with or without braces.  Returns false if the result is too
 * long. */
bool pack_object_expand(const struct pack_object *object, const char *text, size_t bytes,
                        char out[PATH_MAX]);
