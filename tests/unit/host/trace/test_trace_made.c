/* host/trace/trace_made.c and trace_names_made.c: each process has the names that it left. */
#include "host/trace/trace_made.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"

#define FIRST HR_FIRST_PID
#define TAG(n) ((TRACE_NAMES_TAGS + (n)) << TRACE_NAMES_TAG_SHIFT)

static struct trace_info info;
static struct trace_names names;

static void process(uint32_t kind, uint64_t time, uint32_t pid, uint32_t parent)
{
    const struct hr_rec_process body = {time, kind, pid, parent, parent, 0, 0};
    const struct trace_record record = {
        .type = HR_REC_PROCESS, .bytes = sizeof body, .body = (const uint8_t *)&body};
    int error = 0;

    assert_int_equal(trace_processes_take(&info.processes, &record, &error), TRACE_OK);
}

static void perf_map(uint32_t n, uint32_t pid, const char *text)
{
    static struct trace_jit_file files[4];

    files[n] = (struct trace_jit_file){.meta = {.kind = HR_JIT_PERF_MAP, .pid = pid},
                                       .path = (char *)"/tmp/perf.map",
                                       .bytes = (uint8_t *)strdup(text),
                                       .count = strlen(text)};
    names.files = files;
    names.file_count = n + 1;
}

/* 1001 is a fork of the first, and 1002 of 1001; 1003 has executed another program.  All but 1002
 * have a file of their own; 1003 has a library at 5000H. */
static int setup(void **state)
{
    const struct hr_rec_process_map map = {
        .time = 40, .pid = 1003, .map = {.start = 0x5000, .end = 0x6000, .path_bytes = 2}};
    uint8_t bytes[sizeof map + 2];
    const struct trace_record record = {
        .type = HR_REC_PROCESS_MAP, .bytes = sizeof bytes, .body = bytes};
    int error = 0;

    (void)state;
    trace_info_init(&info);
    info.names = &names;
    assert_int_equal(trace_processes_begin(&info.processes), 0);
    process(HR_PROCESS_START, 10, 1001, FIRST);
    process(HR_PROCESS_START, 20, 1002, 1001);
    process(HR_PROCESS_START, 30, 1003, 1001);
    process(HR_PROCESS_EXEC, 35, 1003, 0);
    memcpy(bytes, &map, sizeof map);
    memcpy(bytes + sizeof map, "/l", 2);
    assert_int_equal(trace_processes_take_map(&info.processes, &record, &error), TRACE_OK);
    perf_map(0, FIRST, "1000 10 a\n3000 10 first\n");
    perf_map(1, 1001, "1000 10 b\n2000 10 c\n");
    perf_map(2, 1003, "1000 10 d\n5000 10 e\n");
    perf_map(3, 1001, "1008 8 later\n");
    assert_int_equal(trace_names_make(&names), 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (size_t i = 0; i < names.made_count; i++)
        trace_jit_free(&names.made[i].jit);
    for (size_t i = 0; i < names.file_count; i++)
        free(names.files[i].bytes);
    free(names.made);
    names = (struct trace_names){0};
    trace_processes_free(&info.processes);
    return 0;
}

/* What a sample of a process at an address is looked up by. */
static uint64_t sample(uint32_t pid, uint64_t address)
{
    struct trace_slot slot = {.time = 50, .ip = address, .tid = pid};

    trace_processes_place(&info.processes, &slot, 1);
    trace_made_samples(&info, &slot, 1);
    return slot.ip;
}

static const char *name(uint64_t address)
{
    const struct trace_jit *jit;
    const struct trace_jit_code *code = trace_names_made(&names, address, &jit);

    return code != NULL ? code->name : "";
}

static void each_has_its_own(void **state)
{
    (void)state;
    assert_int_equal(names.made_count, 3);
    assert_int_equal(sample(FIRST, 0x1004), 0x1004 | TAG(0ull));
    assert_int_equal(sample(1001, 0x1004), 0x1004 | TAG(1ull));
    assert_int_equal(sample(1003, 0x1004), 0x1004 | TAG(2ull));
    assert_string_equal(name(sample(FIRST, 0x1004)), "a");
    assert_string_equal(name(sample(1001, 0x1004)), "b");
    assert_string_equal(name(sample(1003, 0x1004)), "d");
    assert_string_equal(name(sample(1001, 0x1008)), "later");
    assert_string_equal(name(sample(FIRST, 0x100c)), "a");
    assert_int_equal(trace_spaces_shown(sample(1003, 0x1004)), 0x1004);
    assert_int_equal(trace_names_untagged(sample(1003, 0x1004)), 0x1004);
}

static void forks_have_their_parents_code(void **state)
{
    (void)state;
    assert_string_equal(name(sample(1002, 0x1004)), "b");
    assert_string_equal(name(sample(1002, 0x3000)), "first");
    assert_string_equal(name(sample(1001, 0x3000)), "first");
    assert_string_equal(name(sample(1003, 0x3000)), ""); /* that program has ended */
    assert_string_equal(name(sample(1003, 0x2000)), "");
}

static void files_hold_before_names(void **state)
{
    (void)state;
    assert_string_equal(name(sample(1003, 0x5000)), "");
    assert_int_not_equal(trace_spaces_view(&info.processes.spaces, sample(1003, 0x5000)),
                         UINT32_MAX);
    assert_int_equal(sample(1003, HR_PYTHON_BASE + 16), HR_PYTHON_BASE + 16);
    assert_int_equal(trace_spaces_shown(HR_PYTHON_BASE + 16), HR_PYTHON_BASE + 16);
    assert_int_equal(sample(1003, UINT64_MAX - 5), UINT64_MAX - 5);
}

/* Without processes an address is what it is; a later file holds. */
static void one_process(void **state)
{
    struct trace_slot slot = {.time = 50, .ip = 0x1004, .tid = 7};
    struct trace_info plain;

    (void)state;
    trace_info_init(&plain);
    plain.names = &names;
    trace_made_samples(&plain, &slot, 1);
    assert_int_equal(slot.ip, 0x1004);
    assert_string_equal(name(0x1004), "d");
    assert_string_equal(name(0x2000), "c");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_has_its_own, setup, teardown),
        cmocka_unit_test_setup_teardown(forks_have_their_parents_code, setup, teardown),
        cmocka_unit_test_setup_teardown(files_hold_before_names, setup, teardown),
        cmocka_unit_test_setup_teardown(one_process, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
