/* Which registers a function has restored already when it is about to return.
 *
 * Compilers leave it unsaid in call frame information: the saved value still lies below the stack
 * pointer, where a copy of the stack does not reach.  But a function that only pops and returns
 * from here on must hold its caller's values in all callee-saved registers that it does not pop
 * yet.
 */
#ifndef HOST_UNWIND_UNWIND_EPILOGUE_H
#define HOST_UNWIND_UNWIND_EPILOGUE_H

#include <stddef.h>
#include <stdint.h>

#define UNWIND_EPILOGUE_BYTES 32u /* of code that suffice */

/* A bit for each callee-saved register (DWARF's numbers) that holds the caller's value where `code`
 * begins; 0 when more than pops and a return follows.
 */
uint16_t unwind_epilogue(const uint8_t *code, size_t bytes);

#endif
