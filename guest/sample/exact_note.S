/* Says something to the plugin that counts instructions: include/exact_notes.h. */
#include "include/exact_notes.h"

    .bss
    .balign EXACT_WINDOW_BYTES
window:
    .skip EXACT_WINDOW_BYTES

    .text
    .globl exact_note_write /* edi: kind, rsi: value */
exact_note_write:
    leaq window(%rip), %rax
    subq $EXACT_MARK, %rax
    movl %edi, %ecx
    .byte EXACT_FIRST_BYTES
    .rept EXACT_VALUE_LOADS
    movl %esi, %ecx
    andl $(EXACT_WINDOW_BYTES - 1), %ecx
    .byte EXACT_NEXT_BYTES
    shrq $12, %rsi
    .endr
    ret
