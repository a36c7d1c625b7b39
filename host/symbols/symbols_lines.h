/* The functions at an address, with inlined ones, and their source lines: DWARF 4 and 5 through
 * libdw.  A compile unit is read when an address in it is looked up.
 *
 * For host/symbols/symbols.c.  Addresses are link-time addresses.  Hostile input; bounded memory;
 * never prints.
 */
#pragma once

#include "host/object/symbols_file.h"
#include "host/symbols/symbols.h"
#include "host/symbols/symbols_names.h"

struct symbols_lines;

/* Returns 0; -ENODATA: no debug information; -EFBIG: the file exceeds a limit; -ENOEXEC; -ENOMEM.
 * The arguments must outlive the lines. */
int symbols_lines_open(struct symbols_lines **lines, const struct symbols_file *file,
                       const struct symbols_options *options, struct symbols_names *names);
void symbols_lines_close(struct symbols_lines *lines);

/* libdw never frees what it has read.  symbols_lines_held estimates that memory;
 * symbols_lines_forget frees it and starts with nothing read. */
uint64_t symbols_lines_held(const struct symbols_lines *lines);
void symbols_lines_forget(struct symbols_lines *lines);

/* Returns the number of frames, as symbols_frames, but 0 if nothing is known.  The last one's
 * function is NULL if the debug information does not name it. */
uint32_t symbols_lines_frames(struct symbols_lines *lines, uint64_t address,
                              struct symbols_frame frames[SYMBOLS_FRAMES_MAX]);
