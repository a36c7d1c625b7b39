/* Decodes opcodes: Intel SDM volume 2, "Instruction Format" and appendix A, "Opcode Map". */
#include "plugin/instruction.h"

#include <stdbool.h>

static bool is_prefix(uint8_t byte)
{
    switch (byte) {
    case 0x26:
    case 0x2e:
    case 0x36:
    case 0x3e: /* segments, branch hints, notrack */
    case 0x64:
    case 0x65:
    case 0x66:
    case 0x67:
    case 0xf0:
    case 0xf2: /* bnd */
    case 0xf3:
        return true;
    default:
        return byte >> 4 == 4; /* REX */
    }
}

static bool is_string(uint8_t opcode)
{
    return (opcode >= 0xa4 && opcode <= 0xa7) || (opcode >= 0xaa && opcode <= 0xaf);
}

static enum instruction_kind two_byte_kind(uint8_t opcode)
{
    switch (opcode) {
    case 0x06: /* clts, sysret, invd, wbinvd */
    case 0x07:
    case 0x08:
    case 0x09:
    case 0x20: /* mov to and from control and debug registers */
    case 0x21:
    case 0x22:
    case 0x23:
    case 0x30: /* wrmsr, rdmsr, sysexit */
    case 0x32:
    case 0x35:
        return INSTRUCTION_PRIVILEGED;
    default:
        return opcode >> 4 == 8 ? INSTRUCTION_CONDITIONAL : INSTRUCTION_PLAIN;
    }
}

enum instruction_kind instruction_kind_of(const uint8_t *code, uint32_t bytes)
{
    bool repeats = false;
    uint32_t i = 0;

    for (; i < bytes && is_prefix(code[i]); i++)
        repeats |= code[i] == 0xf2 || code[i] == 0xf3;
    if (i == bytes)
        return INSTRUCTION_PLAIN;
    if (code[i] >> 4 == 7 || (code[i] >= 0xe0 && code[i] <= 0xe3) ||
        (repeats && is_string(code[i])))
        return INSTRUCTION_CONDITIONAL;
    if (code[i] == 0xf4) /* hlt */
        return INSTRUCTION_PRIVILEGED;
    if (i + 1 == bytes)
        return INSTRUCTION_PLAIN;
    if (code[i] == 0x0f)
        return two_byte_kind(code[i + 1]);
    if (code[i] == 0xff && (code[i + 1] >> 3 & 7) >= 2 && (code[i + 1] >> 3 & 7) <= 5)
        return INSTRUCTION_INDIRECT;
    return INSTRUCTION_PLAIN;
}
