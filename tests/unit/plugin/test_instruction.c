/* Which instructions the plugin takes for conditional, indirect and privileged ones. */
#include "plugin/instruction.c"

#include <stddef.h>

#include "tests/unit/test.h"

struct example {
    enum instruction_kind kind;
    uint32_t bytes;
    uint8_t code[15];
};

static void kinds(void **state)
{
    static const struct example examples[] = {
        {INSTRUCTION_CONDITIONAL, 2, {0x74, 0x10}}, /* je */
        {INSTRUCTION_CONDITIONAL, 3, {0x2e, 0x75, 0x10}}, /* jne, with a hint */
        {INSTRUCTION_CONDITIONAL, 6, {0x0f, 0x8f, 1, 0, 0, 0}}, /* jg */
        {INSTRUCTION_CONDITIONAL, 2, {0xe2, 0xfe}}, /* loop */
        {INSTRUCTION_CONDITIONAL, 2, {0xe3, 0xfe}}, /* jrcxz */
        {INSTRUCTION_CONDITIONAL, 2, {0xf3, 0xa4}}, /* rep movsb */
        {INSTRUCTION_CONDITIONAL, 3, {0xf3, 0x48, 0xab}}, /* rep stosq */
        {INSTRUCTION_CONDITIONAL, 2, {0xf2, 0xae}}, /* repne scasb */
        {INSTRUCTION_INDIRECT, 2, {0xff, 0xd0}}, /* call *%rax */
        {INSTRUCTION_INDIRECT, 3, {0x41, 0xff, 0xe3}}, /* jmp *%r11 */
        {INSTRUCTION_INDIRECT, 6, {0xff, 0x25, 1, 0, 0, 0}}, /* jmp *1(%rip) */
        {INSTRUCTION_INDIRECT, 3, {0x3e, 0xff, 0xe2}}, /* notrack jmp *%rdx */
        {INSTRUCTION_INDIRECT, 7, {0xf2, 0xff, 0x25, 1, 0, 0, 0}}, /* bnd jmp */
        {INSTRUCTION_PRIVILEGED, 1, {0xf4}}, /* hlt */
        {INSTRUCTION_PRIVILEGED, 2, {0x0f, 0x30}}, /* wrmsr */
        {INSTRUCTION_PRIVILEGED, 3, {0x0f, 0x22, 0xd8}}, /* mov %rax, %cr3 */
        {INSTRUCTION_PLAIN, 1, {0xa4}}, /* movsb */
        {INSTRUCTION_PLAIN, 2, {0xeb, 0xfe}}, /* jmp */
        {INSTRUCTION_PLAIN, 5, {0xe8, 0, 0, 0, 0}}, /* call */
        {INSTRUCTION_PLAIN, 2, {0xf3, 0xc3}}, /* rep ret */
        {INSTRUCTION_PLAIN, 2, {0xff, 0x30}}, /* push (%rax) */
        {INSTRUCTION_PLAIN, 2, {0xff, 0xc0}}, /* inc %eax */
        {INSTRUCTION_PLAIN, 2, {0x0f, 0x05}}, /* syscall */
        {INSTRUCTION_PLAIN, 1, {0xff}}, /* cut off */
        {INSTRUCTION_PLAIN, 2, {0xf3, 0x48}},
        {INSTRUCTION_PLAIN, 0, {0}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++)
        assert_int_equal(instruction_kind_of(examples[i].code, examples[i].bytes),
                         examples[i].kind);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(kinds)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
