/* One ELF file of a dynamic program, as its dynamic linker knows it. */
#ifndef HOST_PACK_PACK_OBJECT_H
#define HOST_PACK_PACK_OBJECT_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pack_object {
    struct pack_object *loader; /* who needs it; NULL: the program */
    char *path; /* as it was found */
    char *origin; /* what $ORIGIN means in it */
    char *soname; /* NULL: none.  So are the next two */
    char *rpath;
    char *runpath;
    char **needed; /* names, NULL-terminated */
    bool no_default;
    uint64_t memory_bytes;
    dev_t device;
    ino_t inode;
};

/* Reads the ELF file at `source`, known to the program as `path`.  -ENOEXEC: not one for x86-64. */
int pack_object_read(const char *source, const char *path, struct pack_object **object);
void pack_object_free(struct pack_object *object);

/* Expands $ORIGIN, $LIB and $PLATFORM, with or without braces; false when it gets too long. */
bool pack_object_expand(const struct pack_object *object, const char *text, size_t bytes,
                        char out[PATH_MAX]);

#endif
