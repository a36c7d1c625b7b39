/* The functions of one ELF file and its debug file, by address.  For host/symbols/symbols.c.  The
 * files are hostile input.  Never prints. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/symbols/symbols_module.h"

#define SYMBOLS_ELF_SEGMENTS_MAX 64
#define SYMBOLS_ELF_FUNCTIONS_MAX (1u << 20) /* more than programs have; bounds memory */

struct symbols_function { /* with link-time addresses */
    uint64_t start;
    uint64_t end;
    const char *raw; /* its symbol; lives as long as the file is open */
    const char *name; /* set by the caller: its name for people, NULL at first */
};

struct symbols_segment {
    uint64_t file_offset;
    uint64_t bytes; /* in memory */
    uint64_t address;
};

struct symbols_elf {
    struct symbols_module module;
    struct symbols_function *functions; /* ascending, with different starts; owned */
    size_t function_count;
    char **stubs; /* names of stubs: name@plt; owned */
    size_t stub_count;
    bool complete; /* has all functions, not only those that other files may call */
    struct symbols_segment segments[SYMBOLS_ELF_SEGMENTS_MAX];
    size_t segment_count;
};

/* Reads a file.  Returns 0; -ENODATA if it has no symbols (the segments are usable); -ENOEXEC;
 * -EFBIG; -ENOMEM.  Nothing needs closing after an error other than -ENODATA.  The result must not
 * be moved. */
int symbols_elf_open(struct symbols_elf *elf, const struct symbols_file *file,
                     const struct symbols_options *options);
void symbols_elf_close(struct symbols_elf *file);

/* Returns the function that holds a link-time address, or NULL. */
struct symbols_function *symbols_elf_find(const struct symbols_elf *file, uint64_t address);

/* Returns the link-time address of a place in the file; the offset itself if no segment holds it.
 */
uint64_t symbols_elf_address(const struct symbols_elf *file, uint64_t file_offset);

/* Whether a segment holds a link-time address; the first one of all segments, and after them. */
bool symbols_elf_holds(const struct symbols_elf *file, uint64_t address);
uint64_t symbols_elf_start(const struct symbols_elf *file);
uint64_t symbols_elf_end(const struct symbols_elf *file);
