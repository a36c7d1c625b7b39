/* Notes to the plugin that counts every instruction (--mode exact, include/exact_notes.h).  Other
 * modes write no notes.  Context: interrupts off, on the only CPU. */
#ifndef GUEST_SAMPLE_EXACT_H
#define GUEST_SAMPLE_EXACT_H

#include <stdint.h>

#include "guest/base/run.h"
#include "include/exact_notes.h"

void exact_note_write(uint32_t kind, uint64_t value); /* guest/sample/exact_note.S */

static inline void exact_note(uint32_t kind, uint64_t value)
{
    if (run.exact)
        exact_note_write(kind, value);
}

/* Notes that an exception at `ip` left ring 3, so that the plugin knows whether that instruction
 * had begun. */
void exact_exception(uint64_t vector, uint64_t error, uint64_t ip);

#endif
