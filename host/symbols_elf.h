/* The functions of one ELF file, by address.  For host/symbols.c; hostile input; never prints. */
#ifndef HOST_SYMBOLS_ELF_H
#define HOST_SYMBOLS_ELF_H

#include <stddef.h>
#include <stdint.h>

#define SYMBOLS_ELF_SEGMENTS_MAX 64

struct symbols_function { /* link-time addresses */
    uint64_t start;
    uint64_t end;
    const char *name; /* points into the file's string table */
};

struct symbols_segment {
    uint64_t file_offset;
    uint64_t bytes; /* in memory */
    uint64_t address;
};

struct symbols_elf {
    void *elf; /* libelf's handle */
    struct symbols_function *functions; /* ascending, no two with one start; owned */
    size_t function_count;
    struct symbols_segment segments[SYMBOLS_ELF_SEGMENTS_MAX];
    size_t segment_count;
};

/* Reads an ELF file; `fd` must stay open.  0; -ENODATA when it has no symbols (the segments are
 * usable); -ENOEXEC; -ENOMEM.  Nothing needs closing after an error other than -ENODATA.
 */
int symbols_elf_open(struct symbols_elf *file, int fd);
void symbols_elf_close(struct symbols_elf *file);

/* The function that holds a link-time address, or NULL. */
const struct symbols_function *symbols_elf_find(const struct symbols_elf *file, uint64_t address);

/* The link-time address of a place in the file; the offset itself when no segment holds it. */
uint64_t symbols_elf_address(const struct symbols_elf *file, uint64_t file_offset);

#endif
