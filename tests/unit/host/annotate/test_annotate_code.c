/* Tests of host/annotate/annotate_code.c on this program's own code: counts, disassembly, data
 * among code.
 */
#include "host/annotate/annotate_code.h"

#include "tests/own_process.h"
#include "tests/unit/test.h"

/* With a jump back, a call away, and two bytes of data that look like the start of an instruction.
 */
extern char annotated[], annotated_end[];
__asm__(".text\n.globl annotated\n.globl annotated_end\nannotated:\n"
        "xor %eax, %eax\n"
        "1: inc %eax\n"
        "cmp $9, %eax\n"
        "jne 1b\n"
        "call annotated_end\n"
        "jmp 2f\n"
        ".byte 0x48, 0xb8\n"
        "2: ret\n"
        "annotated_end: ret\n");

static struct trace_samples samples_at(struct trace_slot *slots, const uint64_t *places,
                                       uint32_t count)
{
    memset(slots, 0, (count + 1) * sizeof *slots);
    for (uint32_t i = 0; i < count; i++) {
        slots[i + 1].ip = (uint64_t)(uintptr_t)annotated + places[i];
        slots[i + 1].counters[0] = slots[i].counters[0] + 10;
    }
    return (struct trace_samples){
        .previous = slots, .slots = slots + 1, .count = count, .event_count = 1};
}

static void init(struct annotate_counts *counts, int event)
{
    assert_int_equal(annotate_counts_init(counts, (uint64_t)(uintptr_t)annotated,
                                          (uint64_t)(uintptr_t)annotated_end, event),
                     0);
}

static void counts_stay_in_the_stretch(void **state)
{
    const uint64_t places[] = {0, 2, 2, (uint64_t)(annotated_end - annotated), (uint64_t)-1};
    struct trace_slot slots[6];
    struct trace_samples samples = samples_at(slots, places, 5);
    struct annotate_counts counts;

    (void)state;
    init(&counts, 0);
    annotate_counts_add(&counts, &samples);
    assert_int_equal(counts.total_samples, 3);
    assert_int_equal(counts.total_sum, 30);
    assert_int_equal(counts.samples[2], 2);
    assert_int_equal(counts.sums[2], 20);
    samples.slots = slots + 1;
    slots[1].flags = HR_SAMPLE_RESUMED; /* what a pause counted belongs nowhere */
    annotate_counts_add(&counts, &samples);
    assert_int_equal(counts.total_samples, 6);
    assert_int_equal(counts.total_sum, 30);
    annotate_counts_free(&counts);
    init(&counts, 7); /* an event that a run does not have */
    annotate_counts_add(&counts, &samples);
    assert_int_equal(counts.total_sum, 0);
    annotate_counts_free(&counts);
}

static const struct annotate_instruction *at(const struct annotate_code *code, uint64_t place)
{
    for (uint32_t i = 0; i < code->count; i++)
        if (code->instructions[i].address == (uint64_t)(uintptr_t)annotated + place)
            return &code->instructions[i];
    fail_msg("no instruction at +%u", (unsigned int)place);
    return NULL;
}

static void instructions_hold_the_samples(void **state)
{
    const uint64_t places[] = {0, 2, 4, 7, 18}; /* the last one: the ret behind the data */
    struct own_process *own = own_process_read();
    struct trace_slot slots[6];
    struct trace_samples samples = samples_at(slots, places, 5);
    struct annotate_counts counts;
    struct annotate_code code;
    uint64_t sum = 0;

    (void)state;
    init(&counts, 0);
    annotate_counts_add(&counts, &samples);
    assert_int_equal(annotate_code_read(&code, &counts, &own->info, NULL, ANNOTATE_INTEL), 0);
    assert_true(code.has_code);
    assert_string_equal(at(&code, 2)->text, "inc     eax");
    assert_true(at(&code, 2)->jumped_to);
    assert_int_equal(at(&code, 7)->target, (uint64_t)(uintptr_t)annotated + 2);
    assert_int_equal(at(&code, 9)->target, (uint64_t)(uintptr_t)annotated_end);
    assert_string_equal(at(&code, 16)->text,
                        ".byte   0x48"); /* not movabs: a sample begins inside */
    assert_string_equal(at(&code, 18)->text, "ret");
    assert_true(at(&code, 18)->jumped_to);
    for (uint32_t i = 0; i < code.count; i++)
        sum += code.instructions[i].samples;
    assert_int_equal(sum, 5);
    annotate_code_free(&code);
    assert_int_equal(annotate_code_read(&code, &counts, &own->info, NULL, ANNOTATE_ATT), 0);
    assert_string_equal(at(&code, 4)->text, "cmpl    $9, %eax");
    annotate_code_free(&code);
    annotate_counts_free(&counts);
    own_process_free(own);
}

static void without_a_file_addresses_remain(void **state)
{
    const uint64_t places[] = {2, 2, 9};
    struct trace_slot slots[4];
    struct trace_samples samples = samples_at(slots, places, 3);
    struct annotate_counts counts;
    struct annotate_code code;
    struct trace_info info;

    (void)state;
    trace_info_init(&info);
    init(&counts, -1);
    annotate_counts_add(&counts, &samples);
    assert_int_equal(annotate_code_read(&code, &counts, &info, NULL, ANNOTATE_INTEL), 0);
    assert_false(code.has_code);
    assert_int_equal(code.count, 2);
    assert_int_equal(code.instructions[0].samples, 2);
    assert_int_equal(code.instructions[1].samples, 1);
    annotate_code_free(&code);
    annotate_counts_free(&counts);
}

static void long_functions_are_cut(void **state)
{
    struct annotate_counts counts;

    (void)state;
    assert_int_equal(annotate_counts_init(&counts, 1000, UINT64_MAX, -1), 0);
    assert_int_equal(counts.end, 1000 + ANNOTATE_CODE_BYTES_MAX);
    annotate_counts_free(&counts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_stay_in_the_stretch),
        cmocka_unit_test(instructions_hold_the_samples),
        cmocka_unit_test(without_a_file_addresses_remain),
        cmocka_unit_test(long_functions_are_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
