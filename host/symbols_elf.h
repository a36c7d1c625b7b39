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
    int fd;
    void *elf; /* libelf's handle */
    struct symbols_function *functions; /* ascending, no two with one start; owned */
    size_t function_count;
    struct symbols_segment segments[SYMBOLS_ELF_SEGMENTS_MAX];
    size_t segment_count;
};

/* Reads a file.  0; -ENODATA when it has no symbols (the segments are usable); -ESTALE when its
 * build-id is not the one given (0 bytes: not compared); -ENOEXEC when it is no ELF file; -ENOMEM;
 * the error of open().  Nothing needs closing after an error other than -ENODATA.
 */
int symbols_elf_open(struct symbols_elf *file, const char *path, const uint8_t *build_id,
                     size_t build_id_bytes);
void symbols_elf_close(struct symbols_elf *file);

/* The function that holds a link-time address, or NULL. */
const struct symbols_function *symbols_elf_find(const struct symbols_elf *file, uint64_t address);

/* The link-time address of a place in the file; the offset itself when no segment holds it. */
uint64_t symbols_elf_address(const struct symbols_elf *file, uint64_t file_offset);

#endif
