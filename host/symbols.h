/* Names for addresses, from the ELF files that a trace's load maps point to.
 *
 * .symtab, else .dynsym, else nothing: then callers show address ranges.  A file whose build-id
 * differs from the map's is not used.  ELF files are hostile input.  Never prints.
 */
#ifndef HOST_SYMBOLS_H
#define HOST_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "host/trace_info.h"

struct symbols;

struct symbols_place {
    const char *name; /* of the function, NULL if unknown; raw; lives as long as the symbols */
    uint64_t offset; /* from the function's start, or from `start` */
    uint64_t start; /* run-time address of the function, or of a 4-KiB range */
    uint64_t end; /* first address behind it */
    bool kernel; /* Microtome's own code, by its map or by its address */
    const char *object; /* the file's name without folders, NULL if in no map; raw */
};

/* Takes the maps of `info`, which need not outlive the symbols.  program_path replaces the path
 * of the program's own maps (NULL: as recorded).  Files that cannot be used give problems, no
 * error.  0 or -ENOMEM.
 */
int symbols_open(struct symbols **symbols, const struct trace_info *info, const char *program_path);
void symbols_close(struct symbols *symbols);

/* Always fills *place; true when the address is in a known map. */
bool symbols_find(struct symbols *symbols, uint64_t address, struct symbols_place *place);

/* Why a file gives no symbols, one after the other, with the remedy; NULL after the last one.
 * *file is its path.  The kernel's file is no problem unless an address in it was looked up.
 */
const char *symbols_problem(const struct symbols *symbols, size_t index, const char **file);

#endif
