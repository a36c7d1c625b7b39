/* What the kernel tells the plugin that counts every instruction (plugin/exact.c): loads from a
 * page of its own, spelt as no compiler would, whose offsets are what it says.  Also for assembly.
 *
 * A note is one load at offset `kind` by EXACT_FIRST_BYTES, then four by EXACT_NEXT_BYTES whose
 * offsets are the value, 12 bits each, lowest first.  docs/architecture/sampling.md, "Exact
 * profiles".
 */
#ifndef INCLUDE_EXACT_NOTES_H
#define INCLUDE_EXACT_NOTES_H

/* testb %al, EXACT_MARK(%rax,%rcx), and the same with %cl: opcode, ModRM, SIB, displacement */
#define EXACT_MARK 0x4e545848
#define EXACT_FIRST_BYTES 0x84, 0x84, 0x08, 0x48, 0x58, 0x54, 0x4e
#define EXACT_NEXT_BYTES 0x84, 0x8c, 0x08, 0x48, 0x58, 0x54, 0x4e
#define EXACT_WINDOW_BYTES 4096
#define EXACT_VALUE_LOADS 4

#define EXACT_NOTE_THREAD 1 /* value: tid of the thread that runs from now on; 0: none */
#define EXACT_NOTE_FAULT 2 /* the instruction at the value was begun and did not complete */
#define EXACT_NOTE_RESUME                                                   \
    3 /* ring 3 was left between two instructions; at value is the next one \
       */

#endif
