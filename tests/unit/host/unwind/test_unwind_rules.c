/* Tests of host/unwind/unwind_rule.c and host/unwind/unwind_expression.c: made-up stacks over
 * hand-written call frame information, sound and otherwise.
 */
#include "host/unwind/unwind_rule.h"

#include <elf.h>
#include <sys/auxv.h>

#include "tests/own_process.h"
#include "tests/unit/test.h"

#define STACK_START 0x7ffc00001000ull
#define STACK_WORDS 4096

/* NAME: two bytes of code with the call frame information RULES; samples are in the second one. */
#define CODE(name, rules)                                                \
    extern char name[];                                                  \
    __asm__(".text\n.globl " #name "\n" #name ": .cfi_startproc\n" rules \
            "\nnop\nnop\n.cfi_endproc\n")

/* in rules: DW_CFA_def_cfa_expression (0x0f), DW_CFA_val_expression (0x16), then a block */
CODE(plain, ""); /* as at a function's start: the CFA is rsp + 8 */
CODE(end, ".cfi_undefined rip");
CODE(by_rbp, ".cfi_def_cfa rbp, 16\n.cfi_offset rbp, -16");
CODE(in_register, ".cfi_register rip, rbx");
CODE(rbx_from_rdi, ".cfi_register rbx, rdi");
CODE(value_offset, ".cfi_val_offset rbx, 32");
CODE(saves_rbx, ".cfi_def_cfa_offset 24\n.cfi_offset rbx, -24");
CODE(loses_rax, ".cfi_undefined rax");
CODE(needs_rax, ".cfi_def_cfa rax, 8");
CODE(stands_still, ".cfi_def_cfa_offset 0\n.cfi_offset rip, 0");
CODE(interrupted_in_place, ".cfi_signal_frame\n.cfi_def_cfa_offset 0\n.cfi_offset rip, 0");
/* rsp + 24, by way of pick, shifts, comparisons and a branch over a lit31 */
CODE(by_expression, ".cfi_escape 0x0f, 21, 0x77, 0, 0x33, 0x33, 0x24, 0x15, 1, 0x12, 0x13, 0x16, "
                    "0x22, 0x31, 0x28, 1, 0, 0x4f, 0x96, 0x33, 0x32, 0x2b, 0x13");
CODE(dereferences, ".cfi_escape 0x0f, 3, 0x77, 8, 0x06");
CODE(spins, ".cfi_escape 0x0f, 3, 0x2f, 0xfd, 0xff");
CODE(overflows, ".cfi_escape 0x0f, 6, 0x77, 0, 0x12, 0x2f, 0xfc, 0xff");
CODE(underflows, ".cfi_escape 0x0f, 2, 0x22, 0x13");
CODE(jumps_between, ".cfi_escape 0x0f, 6, 0x77, 8, 0x2f, 0xfc, 0xff, 0x96");
CODE(divides, ".cfi_escape 0x0f, 3, 0x38, 0x30, 0x1b");
CODE(unknown_operation, ".cfi_escape 0x0f, 3, 0x77, 8, 0xe0");
CODE(far_register, ".cfi_escape 0x0f, 4, 0x92, 0xff, 0x3f, 0");
CODE(value_expression, ".cfi_escape 0x16, 0x10, 2, 0x73, 0x01"); /* rip = rbx + 1 */
extern char no_rules[];
__asm__(".text\n.globl no_rules\nno_rules: nop\nnop\n");

/* As compilers write it: what is said of rbx outlasts its pop. */
extern char returns[];
__asm__(".text\n.globl returns\nreturns: .cfi_startproc\n.cfi_offset rbx, -16\nret\nnop\nret\n"
        ".cfi_endproc\n");

struct machine {
    struct own_process *own;
    struct unwind *unwind;
    struct stacks stacks;
    struct unwind_sample sample;
    uint64_t words[STACK_WORDS];
    uint64_t addresses[UNWIND_FRAMES_MAX];
    uint32_t count;
};

static int setup(void **state)
{
    struct machine *m = calloc(1, sizeof *m);

    assert_non_null(m);
    m->own = own_process_read();
    assert_int_equal(stacks_init(&m->stacks), 0);
    assert_int_equal(unwind_open(&m->unwind, &m->own->info, NULL), 0);
    m->sample.registers[UNWIND_RSP] = STACK_START;
    m->sample.stack = (const uint8_t *)m->words;
    m->sample.stack_bytes = sizeof m->words;
    *state = m;
    return 0;
}

static int teardown(void **state)
{
    struct machine *m = *state;

    unwind_close(m->unwind);
    stacks_free(&m->stacks);
    own_process_free(m->own);
    free(m);
    return 0;
}

static uint64_t inside(const char *code)
{
    return (uint64_t)(uintptr_t)code + 1;
}

/* How the stack ends of a sample in `code`. */
static uint32_t follow(struct machine *m, const char *code)
{
    uint32_t node;

    m->sample.ip = inside(code);
    node = unwind_stack(m->unwind, &m->sample, &m->stacks);
    m->count = stacks_addresses(&m->stacks, node, m->addresses, UNWIND_FRAMES_MAX);
    return stacks_root(&m->stacks, node);
}

static void simple_rules(void **state)
{
    struct machine *m = *state;

    m->words[0] = inside(plain);
    m->words[1] = inside(end);
    assert_int_equal(follow(m, plain), HR_STACK_WHOLE);
    assert_int_equal(m->count, 2);
    assert_int_equal(m->addresses[0], inside(plain));
    assert_int_equal(m->addresses[1], inside(end));
    assert_int_equal(follow(m, end), HR_STACK_WHOLE);
    assert_int_equal(m->count, 0);
}

static void frame_pointers(void **state)
{
    struct machine *m = *state;

    m->sample.registers[6] = STACK_START + 80;
    m->words[10] = STACK_START + 160;
    m->words[11] = inside(by_rbp);
    m->words[20] = 0;
    m->words[21] = inside(end);
    assert_int_equal(follow(m, by_rbp), HR_STACK_WHOLE);
    assert_int_equal(m->count, 2);
    m->words[21] = inside(by_rbp); /* rbp is 0 there: below the stack */
    assert_int_equal(follow(m, by_rbp), HR_STACK_BROKEN);
    assert_int_equal(m->count, 2);
}

static void registers_hold_values(void **state)
{
    struct machine *m = *state;

    m->sample.registers[3] = inside(end); /* rbx */
    assert_int_equal(follow(m, in_register), HR_STACK_WHOLE);
    assert_int_equal(m->count, 1);
    m->sample.registers[5] = inside(end); /* rdi becomes the caller's rbx */
    m->words[0] = inside(in_register);
    assert_int_equal(follow(m, rbx_from_rdi), HR_STACK_WHOLE);
    assert_int_equal(m->count, 2);
    assert_int_equal(m->addresses[1], inside(end));
    m->words[0] = inside(end); /* at CFA - 24 */
    m->words[2] = inside(in_register);
    m->sample.registers[3] = 0;
    assert_int_equal(follow(m, saves_rbx), HR_STACK_WHOLE);
    assert_int_equal(m->count, 2);
    m->words[0] = inside(in_register); /* rbx is an address of the stack: no code */
    assert_int_equal(follow(m, value_offset), HR_STACK_BROKEN);
    assert_int_equal(m->count, 1);
    m->sample.registers[3] = inside(end) - 1;
    assert_int_equal(follow(m, value_expression), HR_STACK_WHOLE);
    assert_int_equal(m->addresses[0], inside(end));
}

static void what_a_caller_lost_is_not_used(void **state)
{
    struct machine *m = *state;

    m->sample.registers[0] = STACK_START + 8;
    m->words[0] = inside(needs_rax);
    m->words[1] = m->words[2] = inside(end);
    assert_int_equal(follow(m, loses_rax), HR_STACK_BROKEN);
    assert_int_equal(m->count, 1);
    assert_int_equal(follow(m, needs_rax), HR_STACK_WHOLE); /* in the sample itself it is known */
    assert_int_equal(m->count, 1);
}

static void registers_are_restored_before_a_return(void **state)
{
    struct machine *m = *state;

    m->sample.registers[3] = inside(end);
    m->words[0] = inside(in_register); /* the return address is in rbx there */
    assert_int_equal(follow(m, returns + 1), HR_STACK_WHOLE); /* at the second ret */
    assert_int_equal(m->count, 2);
    assert_int_equal(m->addresses[1], inside(end));
    assert_int_equal(follow(m, returns), HR_STACK_BROKEN); /* at the nop it is not known */
    assert_int_equal(m->count, 1);
}

static void nobody_calls_the_entry_point(void **state)
{
    struct machine *m = *state;
    uint64_t base = getauxval(AT_BASE); /* of ld.so, whose first instructions have no rules */
    Elf64_Ehdr header;

    if (base == 0)
        skip();
    memcpy(&header, (const void *)(uintptr_t)base, sizeof header);
    m->words[0] = base + header.e_entry + 8;
    assert_int_equal(follow(m, plain), HR_STACK_WHOLE);
    assert_int_equal(m->count, 1);
}

static void stacks_end_where_nothing_is_known(void **state)
{
    struct machine *m = *state;

    assert_int_equal(follow(m, no_rules), HR_STACK_BROKEN);
    assert_int_equal(m->count, 0);
    m->words[0] = inside(no_rules);
    assert_int_equal(follow(m, plain), HR_STACK_BROKEN);
    assert_int_equal(m->count, 1);
    m->words[0] = 0x123456; /* in no map: not entered */
    assert_int_equal(follow(m, plain), HR_STACK_BROKEN);
    assert_int_equal(m->count, 0);
    m->words[0] = 0;
    assert_int_equal(follow(m, plain), HR_STACK_WHOLE);
    m->sample.stack_bytes = 0;
    assert_int_equal(follow(m, plain), HR_STACK_CUT);
    m->sample.registers[UNWIND_RSP] = UINT64_MAX - 4; /* wraps around */
    assert_int_equal(follow(m, plain), HR_STACK_BROKEN);
}

static void steps_are_bounded(void **state)
{
    struct machine *m = *state;

    for (int i = 0; i < STACK_WORDS; i++)
        m->words[i] = inside(plain);
    assert_int_equal(follow(m, plain), HR_STACK_CUT);
    assert_int_equal(m->count, UNWIND_FRAMES_MAX);
    m->words[0] = inside(stands_still);
    assert_int_equal(follow(m, stands_still), HR_STACK_BROKEN);
    assert_int_equal(m->count, 0);
    m->words[0] = inside(interrupted_in_place); /* may lie anywhere, but not for ever */
    assert_int_equal(follow(m, interrupted_in_place), HR_STACK_CUT);
    assert_int_equal(m->count, UNWIND_FRAMES_MAX);
}

static void expressions(void **state)
{
    struct machine *m = *state;

    m->words[2] = inside(end);
    assert_int_equal(follow(m, by_expression), HR_STACK_WHOLE);
    assert_int_equal(m->count, 1);
    m->words[1] = STACK_START + 24;
    assert_int_equal(follow(m, dereferences), HR_STACK_WHOLE);
    assert_int_equal(m->count, 1);
    m->words[1] = STACK_START - 8;
    assert_int_equal(follow(m, dereferences), HR_STACK_BROKEN);
}

static void unsound_expressions(void **state)
{
    static const char *const codes[] = {spins,        overflows, underflows,       jumps_between,
                                        far_register, divides,   unknown_operation};
    struct machine *m = *state;

    for (int i = 0; i < STACK_WORDS; i++)
        m->words[i] = inside(end);
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        assert_int_equal(follow(m, codes[i]), HR_STACK_BROKEN);
        assert_int_equal(m->count, 0);
    }
}

/* More addresses, and more rules, than are kept. */
static void what_is_kept_is_bounded(void **state)
{
    struct machine *m = *state;
    struct trace_map *map = &m->own->maps[m->own->info.map_count++];

    map->meta = (struct hr_meta_map){.start = 1ull << 40, .end = 1ull << 46};
    map->path = strdup("[anonymous]");
    m->words[1] = inside(end);
    for (uint64_t i = 0; i < 300000; i++) {
        m->words[0] = (1ull << 40) + 16 + i * 16;
        assert_int_equal(follow(m, plain), HR_STACK_BROKEN);
        assert_int_equal(m->count, 1);
    }
    m->words[0] = inside(plain);
    assert_int_equal(follow(m, plain), HR_STACK_WHOLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(simple_rules, setup, teardown),
        cmocka_unit_test_setup_teardown(frame_pointers, setup, teardown),
        cmocka_unit_test_setup_teardown(registers_hold_values, setup, teardown),
        cmocka_unit_test_setup_teardown(what_a_caller_lost_is_not_used, setup, teardown),
        cmocka_unit_test_setup_teardown(registers_are_restored_before_a_return, setup, teardown),
        cmocka_unit_test_setup_teardown(nobody_calls_the_entry_point, setup, teardown),
        cmocka_unit_test_setup_teardown(stacks_end_where_nothing_is_known, setup, teardown),
        cmocka_unit_test_setup_teardown(steps_are_bounded, setup, teardown),
        cmocka_unit_test_setup_teardown(expressions, setup, teardown),
        cmocka_unit_test_setup_teardown(unsound_expressions, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_kept_is_bounded, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
