/* Classifies x86-64 instructions for the plugin.  Pure code. */
#pragma once

#include <stdint.h>

enum instruction_kind {
    INSTRUCTION_PLAIN, /* also direct jumps and calls, and returns */
    INSTRUCTION_CONDITIONAL, /* jcc, loop, jrcxz, or a string instruction with a repeat prefix */
    INSTRUCTION_INDIRECT, /* a jump or call with its target in a register or in memory */
    INSTRUCTION_PRIVILEGED, /* translated by the emulator, in ring 3, to code that faults */
};

enum instruction_kind instruction_kind_of(const uint8_t *code, uint32_t bytes);
