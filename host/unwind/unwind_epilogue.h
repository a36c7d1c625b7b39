/* Finds the registers that a function has already restored when it is about to return.
 *
 * Compilers do not express this in call frame information: the saved value still lies below the
 * stack pointer, where a copy of the stack does not reach.  But if a function only pops and returns
 * from here on, every callee-saved register that it does not pop must already hold its caller's
 * value.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define UNWIND_EPILOGUE_BYTES 32u /* bytes of code that suffice */

/* Returns a bit for each callee-saved register (DWARF's numbers) that holds the caller's value at
 * the start of `code`; 0 if something other than pops and a return follows. */
uint16_t unwind_epilogue(const uint8_t *code, size_t bytes);

#define UNWIND_CALLEE_SAVED (1u << 3 | 1u << 6 | 0xfu << 12) /* rbx rbp r12 .. r15 */
