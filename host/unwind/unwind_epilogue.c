/* Recognises the ends of functions by their instructions (Intel SDM, volume 2, opcode maps). */
#include "host/unwind/unwind_epilogue.h"

#include <stdbool.h>

/* DWARF's register numbers by the machine's. */
static const uint8_t dwarf_numbers[8] = {0, 2, 1, 3, 7, 6, 4, 5};

/* Compares `length` bytes with a pattern, in which 0xff matches any byte. */
static bool begins(const uint8_t *code, size_t bytes, const uint8_t *pattern, size_t length)
{
    if (bytes < length)
        return false;
    for (size_t i = 0; i < length; i++)
        if (pattern[i] != 0xff && pattern[i] != code[i])
            return false;
    return true;
}

static bool is_return(const uint8_t *code, size_t bytes)
{
    bool prefixed = bytes >= 2 && (code[0] == 0xf3 || code[0] == 0xf2); /* rep, bnd */

    return code[prefixed] == 0xc3 || code[prefixed] == 0xc2;
}

/* Returns the length of an instruction that restores nothing but the stack pointer; 0 for any
 * other. */
static size_t passed_over(const uint8_t *code, size_t bytes)
{
    static const uint8_t add_byte[] = {0x48, 0x83, 0xc4, 0xff}; /* add rsp, imm8 */
    static const uint8_t add_long[] = {0x48, 0x81, 0xc4, 0xff, 0xff, 0xff, 0xff};
    static const uint8_t vzeroupper[] = {0xc5, 0xf8, 0x77};

    if (begins(code, bytes, add_byte, sizeof add_byte))
        return sizeof add_byte;
    if (begins(code, bytes, add_long, sizeof add_long))
        return sizeof add_long;
    return begins(code, bytes, vzeroupper, sizeof vzeroupper) ? sizeof vzeroupper : 0;
}

uint16_t unwind_epilogue(const uint8_t *code, size_t bytes)
{
    uint32_t restored = UNWIND_CALLEE_SAVED;

    for (size_t at = 0; at < bytes;) {
        bool high = code[at] == 0x41 && at + 1 < bytes; /* REX.B: r8 .. r15 */
        uint8_t op = code[at + high];
        size_t passed = passed_over(code + at, bytes - at);

        if (is_return(code + at, bytes - at))
            return (uint16_t)restored;
        if (op >= 0x58 && op <= 0x5f) { /* pop */
            restored &= ~(high ? 1u << (8 + op - 0x58) : 1u << dwarf_numbers[op - 0x58]);
            at += 1u + high;
        } else if (code[at] == 0xc9) { /* leave */
            restored &= ~(1u << 6);
            at++;
        } else if (passed != 0) {
            at += passed;
        } else {
            return 0;
        }
    }
    return 0;
}
