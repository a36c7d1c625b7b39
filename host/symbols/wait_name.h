/* What a thread waits for, in words: a lock's name. */
#pragma once

#include "host/symbols/symbols.h"

#define WAIT_NAME_BYTES 256u

/* Finds the file in which wait->address is, for its thread and time: returns true and fills *place
 * as symbols_data() does.  *heap: it is in no file but follows the program. */
bool wait_name_find(struct symbols *symbols, const struct trace_info *info,
                    const struct hr_rec_wait *wait, struct symbols_place *place, bool *heap);

/* Writes what an HR_REC_WAIT is about, and returns `text`.  A futex is named by the global object
 * that holds its word ("cache_lock", "queue+0x28"), by its file where that has no name for it
 * ("libc.so.6+0x1d3a50", a link-time address), or by its address ("heap 0x6c0010",
 * "0x7ffff7e00990"), or as the end of a thread.  Any other wait has the name of its system call.
 * Raw: may hold any character.
 */
char *wait_name(struct symbols *symbols, const struct trace_info *info,
                const struct hr_rec_wait *wait, char text[WAIT_NAME_BYTES]);
