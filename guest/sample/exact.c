/* Which exceptions leave an instruction begun and not completed, as the emulator counts. */
#include "guest/sample/exact.h"

#include <stdbool.h>

#define FETCH 16 /* of a page fault's error code: the instruction could not be read */

enum { /* SDM volume 3, "Exceptions and Interrupts" */
       VECTOR_DEBUG = 1,
       VECTOR_BREAKPOINT = 3,
       VECTOR_OVERFLOW = 4,
       VECTOR_INVALID_OPCODE = 6,
       VECTOR_PAGE_FAULT = 14,
};

/* Traps come after their instruction.  The emulator counts an invalid one, too: it translates it to
 * code that raises the exception. */
static bool is_complete(uint64_t vector, uint64_t error)
{
    return vector == VECTOR_DEBUG || vector == VECTOR_BREAKPOINT || vector == VECTOR_OVERFLOW ||
           vector == VECTOR_INVALID_OPCODE || (vector == VECTOR_PAGE_FAULT && error & FETCH);
}

void exact_exception(uint64_t vector, uint64_t error, uint64_t ip)
{
    exact_note(is_complete(vector, error) ? EXACT_NOTE_RESUME : EXACT_NOTE_FAULT, ip);
}
