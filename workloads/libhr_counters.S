/* libhr: reading counters and clock around a region, instruction by instruction.
 *
 * In assembler so that an empty region reads a fixed number of instructions whatever compiled the
 * library: docs/libhr.md, "What an empty region reads", counts them.  Offsets: workloads/libhr.h.
 */
#define SLOT_STOP 112
#define SLOT_OPEN 224
#define REGION_ID 8
#define ABI_SYSCALL 0x4872
#define ABI_READ 2

    .text

/* Counters count-1 .. 0 to \register + \offset + 8 * number: five instructions each. */
.macro READ_COUNTERS name, offset, register
    .irp number, 12,11,10,9,8,7,6,5,4,3,2,1,0
\name\number:
    movl libhr_counters+4*\number(%rip), %ecx
    rdpmc
    shlq $32, %rdx
    orq %rdx, %rax
    movq %rax, 8*\number+\offset(\register)
    .endr
\name\()_done:
.endm

.macro TABLE symbol, name
    .section .data.rel.ro.local, "aw"
    .balign 8
    .hidden \symbol
    .globl \symbol
\symbol: /* by the number of counters: entry n reads n */
    .quad \name\()_done
    .irp number, 0,1,2,3,4,5,6,7,8,9,10,11,12
    .quad \name\number
    .endr
    .text
.endm

.macro FUNCTION name
    .globl \name
    .type \name, @function
\name:
.endm

.macro HIDDEN name
    .hidden \name
    FUNCTION \name
.endm

/* r8: this thread's slot of the region at rdi.  6 instructions. */
.macro FIND_SLOT slow
    movq libhr_slots@gottpoff(%rip), %rax
    movl REGION_ID(%rdi), %ecx
    movq %fs:(%rax), %rax
    movq (%rax, %rcx, 8), %r8
    testq %r8, %r8
    jz \slow
.endm

/* The clock to \offset of the slot.  4 instructions. */
.macro READ_CLOCK offset
    rdtsc
    shlq $32, %rdx
    orq %rdx, %rax
    movq %rax, \offset(%r8)
.endm

    FUNCTION hr_read
    jmp *libhr_read_entry(%rip)

    READ_COUNTERS read, 0, %rdi
    xorl %eax, %eax
    ret
    TABLE libhr_read_by_count, read

    FUNCTION hr_region_begin
    FIND_SLOT begin_first
    movl $1, SLOT_OPEN(%r8)
    jmp *libhr_begin_entry(%rip)

begin_first: /* this thread's first pass: a slot, and once more */
    pushq %rdi
    call libhr_begin_slow
    popq %rdi
    testl %eax, %eax
    jz hr_region_begin
    ret

    HIDDEN libhr_begin_user
    READ_CLOCK 0
    jmp *libhr_begin_reads(%rip)
    READ_COUNTERS begin, 8, %r8
    xorl %eax, %eax
    ret
    TABLE libhr_begin_by_count, begin

    HIDDEN libhr_begin_kernel
    movq %r8, %rsi
    movl $ABI_READ, %edi
    movl $ABI_SYSCALL, %eax
    syscall
    ret

    FUNCTION hr_region_end
    FIND_SLOT libhr_end_slow
    jmp *libhr_end_entry(%rip)

    HIDDEN libhr_end_user
    READ_CLOCK SLOT_STOP
    jmp *libhr_end_reads(%rip)
    READ_COUNTERS end, SLOT_STOP+8, %r8
    movq %r8, %rdi
    jmp libhr_close
    TABLE libhr_end_by_count, end

    HIDDEN libhr_end_kernel
    leaq SLOT_STOP(%r8), %rsi
    movl $ABI_READ, %edi
    movl $ABI_SYSCALL, %eax
    syscall
    movq %r8, %rdi
    jmp libhr_close

    .section .note.GNU-stack, "", @progbits
