/* Notes to the plugin that counts every instruction (--mode exact, include/exact_notes.h).  Nothing
 * happens in other modes.  Interrupts off, on the only CPU.
 */
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

/* Ring 3 was left by an exception at `ip`: was the instruction there begun? */
void exact_exception(uint64_t vector, uint64_t error, uint64_t ip);

#endif
