/* Pages by vector instructions.  The program's registers are live: what is used is kept on the stack. */
#include "guest/base/layout.h"

    .text

.macro FUNCTION name
    .balign 16
    .globl \name
    .type \name, @function
\name:
.endm

/* 16 stores of 32 bytes a round */
    FUNCTION page_zero_avx
    vmovdqu %ymm0, -32-8(%rsp) /* below the return address; interrupts are off, NMIs have stacks of their own */
    vpxor %xmm0, %xmm0, %xmm0
    movl $PAGE_BYTES / 512, %ecx
1:
    .set at, 0
    .rept 16
    vmovdqa %ymm0, at(%rdi)
    .set at, at + 32
    .endr
    addq $512, %rdi
    decl %ecx
    jnz 1b
    vmovdqu -32-8(%rsp), %ymm0
    ret

    FUNCTION page_zero_sse
    movups %xmm0, -32(%rsp)
    xorps %xmm0, %xmm0
    movl $PAGE_BYTES / 512, %ecx
1:
    .set at, 0
    .rept 32
    movaps %xmm0, at(%rdi)
    .set at, at + 16
    .endr
    addq $512, %rdi
    decl %ecx
    jnz 1b
    movups -32(%rsp), %xmm0
    ret

/* 128 bytes a round; `below` is where the register is kept */
.macro COPY_BLOCKS name move register bytes below
    FUNCTION \name
    \move \register, -\below(%rsp)
1:
    .set at, 0
    .rept 128 / \bytes
    \move at(%rsi), \register
    \move \register, at(%rdi)
    .set at, at + \bytes
    .endr
    addq $128, %rsi
    addq $128, %rdi
    subq $128, %rdx
    jnz 1b
    \move -\below(%rsp), \register
    ret
.endm

    COPY_BLOCKS page_copy_blocks_avx vmovdqu %ymm0 32 40
    COPY_BLOCKS page_copy_blocks_sse movups %xmm0 16 32
