/* Notes that the kernel sends to the plugin that counts every instruction (plugin/exact.c).  A note
 * is a series of loads from a reserved page, encoded as no compiler encodes a load; the offsets in
 * the page carry the information.  Also read by assembly.
 *
 * The first load, EXACT_FIRST_BYTES, is at offset `kind`.  Four loads by EXACT_NEXT_BYTES follow,
 * whose offsets are the value, 12 bits each, lowest first.  See docs/architecture/sampling.md,
 * "Exact profiles".
 */
#pragma once

/* testb %al, EXACT_MARK(%rax,%rcx) and testb %cl, EXACT_MARK(%rax,%rcx): opcode, ModRM, SIB,
 * displacement */
#define EXACT_MARK 0x4e545848
#define EXACT_FIRST_BYTES 0x84, 0x84, 0x08, 0x48, 0x58, 0x54, 0x4e
#define EXACT_NEXT_BYTES 0x84, 0x8c, 0x08, 0x48, 0x58, 0x54, 0x4e
#define EXACT_WINDOW_BYTES 4096
#define EXACT_VALUE_LOADS 4

#define EXACT_NOTE_THREAD 1 /* value: tid of the thread that runs from now on; 0: none */
#define EXACT_NOTE_FAULT 2 /* value: address of an instruction that began and did not complete */
#define EXACT_NOTE_RESUME 3 /* value: address of the next one; ring 3 was left between two */
