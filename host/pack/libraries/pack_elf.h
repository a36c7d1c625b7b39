/* Reads what a dynamic linker needs from an ELF file: its type, interpreter and dynamic section.
 * The file is hostile; strings point into it and are valid as long as it is. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pack_elf {
    const uint8_t *file;
    size_t bytes;
    uint64_t memory_bytes; /* from the first to the last byte of all segments */
    const char *interpreter; /* NULL if there is none, as are the next three */
    const char *soname;
    const char *rpath; /* NULL also if there is a runpath, which replaces it */
    const char *runpath;
    bool no_default; /* DF_1_NODEFLIB: neither the cache nor the default directories */
    uint64_t dynamic_offset; /* of the dynamic section */
    uint64_t dynamic_count;
    uint64_t strings_offset; /* of the dynamic strings */
    uint64_t strings_bytes;
};

/* Returns 0; -ENOEXEC: not a program or library for x86-64 Linux; -EINVAL: damaged. */
int pack_elf_parse(const void *file, size_t bytes, struct pack_elf *elf);

/* Returns the name of the next needed library, or NULL at the end; *position is 0 at first. */
const char *pack_elf_next_needed(const struct pack_elf *elf, uint64_t *position);
