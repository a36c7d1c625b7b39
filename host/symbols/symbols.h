/* Names for addresses, from the ELF files that a trace's load maps point to and from their debug
 * files.
 *
 * Functions are those of .symtab, here or in the debug file, else of .dynsym; where there are none,
 * those of the call frame information, which have no names but "libx.so+0x1130"; and where there is
 * none of that either, callers show address ranges.  A file is opened when an address in it is
 * first looked up; one whose build-id differs from the map's is not used.  Looking up is for any
 * number of threads at once, but for symbols_update.  ELF files are hostile input; memory is
 * bounded.  Prints nothing but, on a terminal, what is fetched from a debuginfod server.
 */
#ifndef HOST_SYMBOLS_SYMBOLS_H
#define HOST_SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "host/object/symbols_options.h"
#include "host/trace/trace_info.h"

struct symbols;

struct symbols_place {
    const char *name; /* of the function, demangled unless raw_names; NULL if unknown; may hold any
                         character; lives as long as the symbols */
    uint64_t offset; /* from the function's start, or from `start` */
    uint64_t start; /* run-time address of the function, or of a 4-KiB range */
    uint64_t end; /* first address behind it */
    bool nameless; /* it has no symbol: the name, if any, is the file's with an address */
    bool kernel; /* Microtome's own code, by its map or by its address */
    const char *object; /* the file's name without folders, NULL if in no map; raw */
};

/* Takes the maps of `info`, which need not outlive the symbols, nor need the options; options NULL:
 * the defaults.  Files that cannot be used give problems, no error.  0 or -ENOMEM.
 */
int symbols_open(struct symbols **symbols, const struct trace_info *info,
                 const struct symbols_options *options);
void symbols_close(struct symbols *symbols);

/* Takes the maps that came to `info` since, as libraries are loaded.  Not beside other calls.  0 or
 * -ENOMEM.
 */
int symbols_update(struct symbols *symbols, const struct trace_info *info);

/* Always fills *place; true when the address is in a known map. */
bool symbols_find(struct symbols *symbols, uint64_t address, struct symbols_place *place);

#define SYMBOLS_FRAMES_MAX 32u /* of one address */

struct symbols_frame { /* a function at an address: inlined, or the one that holds the code */
    const char *function; /* as symbols_place.name */
    const char *file; /* of the source; NULL: unknown */
    uint32_t line; /* 0: unknown */
    bool inlined; /* into the next frame */
};

/* The functions at an address, the innermost inlined one first, the one of symbols_find last: how
 * many, 1 to SYMBOLS_FRAMES_MAX.  The first one's file and line are of the code itself, each
 * further one's of the call that was inlined there; with no_inlines only the last one is given.
 * The texts live as long as the symbols.  Slow the first time for an address.
 */
uint32_t symbols_frames(struct symbols *symbols, uint64_t address,
                        struct symbols_frame frames[SYMBOLS_FRAMES_MAX]);

/* Whether threads begin in the function of that name (NULL: unknown): it has no caller. */
bool symbols_is_start(const char *name);

/* Why a file gives no symbols, not all of them or no lines, one text a file, with the remedy; NULL
 * after the last one.  *file is its path.  Only of files in which addresses were
 * looked up, lines only where symbols_frames was asked for them.  A text lasts until the next call.
 */
const char *symbols_problem(const struct symbols *symbols, size_t index, const char **file);

#endif
