/* The switch from one kernel stack to another: what a C function's caller expects to find again. */
    .text
    .globl switch_stacks
switch_stacks: /* (uint64_t *save_rsp, uint64_t load_rsp) */
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret

    .section .note.GNU-stack, "", @progbits
