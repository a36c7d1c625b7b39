/* Names for addresses, from the ELF files of a trace's load maps and their debug files.
 *
 * Functions come from .symtab, in the file or its debug file, else from .dynsym.  Without these
 * they come from the call frame information and have no names but "libx.so+0x1130".  If that is
 * missing, too, callers show address ranges.  A file is opened when an address in it is first
 * looked up; a file with another build-id than the map is not used.  Any number of threads may look
 * up addresses at once, but not during symbols_update.  ELF files are hostile input; memory is
 * bounded.  Prints nothing except, on a terminal, the progress of a download from a debuginfod
 * server.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "host/object/symbols_options.h"
#include "host/trace/trace_info.h"

struct symbols;

struct symbols_place {
    const char *name; /* of the function, demangled unless raw_names; NULL if unknown; may hold any
                         character; lives as long as the symbols */
    uint64_t offset; /* from `start` */
    uint64_t start; /* run-time address of the function, or of a 4-KiB range */
    uint64_t end; /* first address after it */
    bool nameless; /* it has no symbol: the name, if any, is the file's with an address */
    bool kernel; /* Microtome's own code, judged by its map or its address */
    const char *object; /* the file's name without folders, NULL if in no map; raw */
};

/* Takes the maps of `info`.  Neither `info` nor the options need to outlive this call; options may
 * be NULL for the defaults.  Files that cannot be used cause a symbols_problem, not an error.
 * Returns 0 or -ENOMEM. */
int symbols_open(struct symbols **symbols, const struct trace_info *info,
                 const struct symbols_options *options);
void symbols_close(struct symbols *symbols);

/* Takes the maps that were added to `info` since, for loaded libraries.  No other call may run at
 * that time.  Returns 0 or -ENOMEM. */
int symbols_update(struct symbols *symbols, const struct trace_info *info);

/* Fills *place in any case.  Returns true if the address is in a known map. */
bool symbols_find(struct symbols *symbols, uint64_t address, struct symbols_place *place);

enum symbols_data_place {
    SYMBOLS_DATA_ELSEWHERE, /* not in the file */
    SYMBOLS_DATA_HERE,
    SYMBOLS_DATA_BEHIND, /* in no file: place->offset bytes after the program's last segment */
};

/* Finds what lies `distance` bytes after an address of code, modulo 2^64, in the same file: load
 * maps have code alone.  HERE: fills name (of a global object, demangled; NULL: it has none) and
 * object, and the offset from the global object's start, or without a name the link-time address.
 */
enum symbols_data_place symbols_data(struct symbols *symbols, uint64_t code, uint64_t distance,
                                     struct symbols_place *place);

#define SYMBOLS_FRAMES_MAX 32u /* for one address */

struct symbols_frame { /* a function at an address: inlined, or the one that holds the code */
    const char *function; /* as symbols_place.name */
    const char *file; /* of the source; NULL: unknown */
    uint32_t line; /* 0: unknown */
    bool inlined; /* into the next frame */
};

/* Returns the number of functions at an address, 1 to SYMBOLS_FRAMES_MAX: the innermost inlined one
 * first, the one of symbols_find last.  The first one has the file and line of the code itself,
 * each further one those of the call that was inlined there.  With no_inlines only the last one is
 * given.  The texts live as long as the symbols.  Slow the first time for an address. */
uint32_t symbols_frames(struct symbols *symbols, uint64_t address,
                        struct symbols_frame frames[SYMBOLS_FRAMES_MAX]);

/* Returns whether threads begin in the function of that name (may be NULL), so that it has no
 * caller. */
bool symbols_is_start(const char *name);

/* Returns why a file gives no symbols, not all of them or no lines, with the remedy: one text per
 * file, NULL after the last one.  *file is its path.  Only files in which addresses were looked up
 * are reported, and lines only if symbols_frames was called.  A text is valid until the next call.
 */
const char *symbols_problem(const struct symbols *symbols, size_t index, const char **file);
