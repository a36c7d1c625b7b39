/* Tests of host/trace/trace_processes.c and trace_spaces.c: whose a thread is, what an address
 * means in which process, and what contradicts the format. */
#include "host/trace/trace_processes.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"

#define FIRST HR_FIRST_PID

static struct trace_processes processes;

static int setup(void **state)
{
    (void)state;
    assert_int_equal(trace_processes_begin(&processes), 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    trace_processes_free(&processes);
    return 0;
}

static void process(uint32_t kind, uint64_t time, uint32_t pid, uint32_t parent, uint32_t status,
                    const char *path)
{
    const struct hr_rec_process body = {time, kind, pid, parent, parent, status, 0};
    uint8_t bytes[sizeof body + 64];
    const struct trace_record record = {
        .type = HR_REC_PROCESS, .bytes = (uint16_t)(sizeof body + strlen(path)), .body = bytes};
    int error = 0;

    memcpy(bytes, &body, sizeof body);
    memcpy(bytes + sizeof body, path, strlen(path));
    assert_int_equal(trace_processes_take(&processes, &record, &error), TRACE_OK);
    assert_int_equal(error, 0);
}

static void thread(uint64_t time, uint32_t tid, uint32_t pid)
{
    const struct hr_rec_thread body = {time, tid, pid};
    const struct trace_record record = {
        .type = HR_REC_THREAD, .bytes = sizeof body, .body = (const uint8_t *)&body};
    int error = 0;

    assert_int_equal(trace_processes_take_thread(&processes, &record, &error), TRACE_OK);
    assert_int_equal(error, 0);
}

static void map(uint64_t time, uint32_t pid, uint64_t start, uint64_t end, uint64_t offset,
                const char *path)
{
    const struct hr_rec_process_map body = {.time = time,
                                            .pid = pid,
                                            .map = {.start = start,
                                                    .end = end,
                                                    .file_offset = offset,
                                                    .flags = HR_MAP_EXEC,
                                                    .path_bytes = (uint16_t)strlen(path)}};
    uint8_t bytes[sizeof body + 64];
    const struct trace_record record = {
        .type = HR_REC_PROCESS_MAP, .bytes = (uint16_t)(sizeof body + strlen(path)), .body = bytes};
    int error = 0;

    memcpy(bytes, &body, sizeof body);
    memcpy(bytes + sizeof body, path, strlen(path));
    assert_int_equal(trace_processes_take_map(&processes, &record, &error), TRACE_OK);
    assert_int_equal(error, 0);
}

static void first_map(uint64_t start, uint64_t end, const char *path)
{
    const struct hr_meta_map body = {.start = start, .end = end, .flags = HR_MAP_EXEC};

    assert_int_equal(trace_processes_first_map(&processes, &body, (const uint8_t *)"", path), 0);
}

static uint64_t at(uint32_t tid, uint64_t time, uint64_t address)
{
    return trace_processes_address(&processes, tid, time, address);
}

/* The file that a common address is in, by its view; NULL: it has no tag. */
static const char *file_at(uint32_t tid, uint64_t time, uint64_t address)
{
    uint32_t view = trace_spaces_view(&processes.spaces, at(tid, time, address));

    return view != UINT32_MAX ? processes.spaces.views[view].path : NULL;
}

static void test_none(void **state)
{
    struct trace_processes none = {0};

    (void)state;
    assert_false(trace_processes_any(&none));
    assert_int_equal(trace_processes_of(&none, 7, 9), 0);
    assert_int_equal(trace_processes_pid(&none, 7, 9), FIRST);
    assert_int_equal(trace_processes_address(&none, 7, 9, 0xdead00000000beef), 0xdead00000000beef);
}

static void test_threads(void **state)
{
    (void)state;
    process(HR_PROCESS_START, 10, 1001, FIRST, 0, "/a");
    thread(20, 1002, 1001);
    assert_int_equal(trace_processes_pid(&processes, FIRST, 5), FIRST);
    assert_int_equal(trace_processes_pid(&processes, 1001, 15), 1001);
    assert_int_equal(trace_processes_pid(&processes, 1002, 25), 1001);
    assert_int_equal(trace_processes_pid(&processes, 4000, 25), FIRST); /* unknown */
    assert_int_equal(processes.all[1].parent, 0);
    assert_int_equal(trace_processes_contradictions(&processes), 0);
}

/* A number that is used again is another process. */
static void test_reused(void **state)
{
    (void)state;
    process(HR_PROCESS_START, 10, 1001, FIRST, 0, "/a");
    process(HR_PROCESS_EXIT, 20, 1001, 0, 256, "");
    process(HR_PROCESS_START, 30, 1001, FIRST, 0, "/b");
    assert_int_equal(trace_processes_of(&processes, 1001, 15), 1);
    assert_int_equal(trace_processes_of(&processes, 1001, 30), 2);
    assert_int_equal(trace_processes_contradictions(&processes), 0);
    assert_true(processes.all[1].ended);
    assert_false(processes.all[2].ended);
}

static void test_names(void **state)
{
    (void)state;
    process(HR_PROCESS_START, 10, 1001, FIRST, 0, "/sh");
    process(HR_PROCESS_EXEC, 20, 1001, 0, 0, "/ls");
    assert_string_equal(trace_processes_path(&processes, 1, 19), "/sh");
    assert_string_equal(trace_processes_path(&processes, 1, 20), "/ls");
    assert_null(trace_processes_path(&processes, 0, UINT64_MAX));
}

/* A fork has its parent's maps as they are then; exec begins anew. */
static void test_spaces(void **state)
{
    (void)state;
    first_map(0x1000, 0x2000, "/a");
    process(HR_PROCESS_START, 10, 1001, FIRST, 0, "/a");
    map(15, FIRST, 0x8000, 0x9000, 0, "/late");
    assert_int_equal(at(1001, 12, 0x1100), 0x1100); /* the same code: the same address */
    assert_string_equal(file_at(FIRST, 20, 0x8100), "/late");
    assert_null(file_at(1001, 20, 0x8100));
    process(HR_PROCESS_EXEC, 20, 1001, 0, 0, "/b");
    map(20, 1001, 0x1000, 0x2000, 0, "/b");
    map(21, 1001, 0x3000, 0x4000, 0, "/a");
    assert_int_equal(at(1001, 19, 0x1100), 0x1100);
    assert_string_equal(file_at(1001, 20, 0x1100), "/b");
    assert_int_equal(trace_spaces_shown(at(1001, 20, 0x1100)), 0x1100);
    assert_int_equal(at(1001, 21, 0x3100), 0x1100); /* of /a, where the first process has it */
    assert_int_equal(at(1001, 21, 0x5000), 0x5000 | TRACE_SPACES_TAGS); /* in no map */
    assert_int_equal(at(1001, 21, 0xffffffff81000000), 0xffffffff81000000);
}

/* Two processes that run one program: its code has one common address. */
static void test_same_program(void **state)
{
    uint64_t address;

    (void)state;
    first_map(0x1000, 0x2000, "/a");
    for (uint32_t pid = 1001; pid < 1004; pid++) {
        process(HR_PROCESS_START, pid, pid, FIRST, 0, "/a");
        process(HR_PROCESS_EXEC, pid, pid, 0, 0, "/b");
        map(pid, pid, 0x1000ull * (pid - 1000), 0x1000ull * (pid - 999), 0x500, "/b");
    }
    address = at(1001, 1001, 0x1010);
    assert_int_equal(at(1002, 1002, 0x2010), address);
    assert_int_equal(at(1003, 1003, 0x3010), address);
    assert_int_equal(trace_spaces_shown(address), 0x1010);
}

/* A later map of the first process over the file: its addresses do not stand for the file's. */
static void test_covered(void **state)
{
    (void)state;
    first_map(0x1000, 0x3000, "/a");
    first_map(0x2000, 0x4000, "/over");
    process(HR_PROCESS_START, 10, 1001, FIRST, 0, "/a");
    process(HR_PROCESS_EXEC, 10, 1001, 0, 0, "/a");
    map(10, 1001, 0x1000, 0x3000, 0, "/a");
    assert_string_equal(file_at(1001, 11, 0x2800), "/a");
    assert_int_equal(at(FIRST, 11, 0x2800), 0x2800);
}

static void test_place(void **state)
{
    struct trace_slot slots[3] = {
        {.tid = 1001, .time = 19, .ip = 0x1100},
        {.tid = 1001, .time = 20, .ip = 0x1100},
        {.tid = 1001, .time = 21, .ip = 0x1100, .flags = HR_SAMPLE_KERNEL}};

    (void)state;
    first_map(0x1000, 0x2000, "/a");
    process(HR_PROCESS_START, 10, 1001, FIRST, 0, "/a");
    process(HR_PROCESS_EXEC, 20, 1001, 0, 0, "/b");
    map(20, 1001, 0x1000, 0x2000, 0, "/b");
    trace_processes_place(&processes, slots, 3);
    assert_int_equal(slots[0].ip, 0x1100);
    assert_int_not_equal(slots[1].ip, 0x1100);
    assert_int_equal(trace_spaces_shown(slots[1].ip), 0x1100);
    assert_int_equal(slots[2].ip, 0x1100);
}

static void test_contradictions(void **state)
{
    (void)state;
    process(HR_PROCESS_START, 10, 1001, 1002, 0, "");
    assert_int_equal(processes.unknown_parents, 1);
    process(HR_PROCESS_START, 10, 1002, 1001, 0, ""); /* a cycle, but for the order */
    assert_int_equal(processes.all[1].parent, TRACE_PROCESS_NONE);
    assert_int_equal(processes.all[2].parent, 1);
    process(HR_PROCESS_START, 10, 1002, FIRST, 0, "");
    assert_int_equal(processes.repeated_starts, 1);
    process(HR_PROCESS_START, 10, 1003, 1003, 0, ""); /* its own parent */
    assert_int_equal(processes.unknown_parents, 2);
    process(HR_PROCESS_EXIT, 10, 5000, 0, 0, "");
    process(HR_PROCESS_EXEC, 10, 5001, 0, 0, "/x");
    thread(10, 9, 5002);
    map(10, 5003, 0x1000, 0x2000, 0, "/x");
    assert_int_equal(processes.unknown_pids, 4);
    process(HR_PROCESS_EXIT, 11, 1001, 0, 0, "");
    process(HR_PROCESS_EXIT, 12, 1001, 0, 1, "");
    assert_int_equal(processes.after_exit, 1);
    assert_int_equal(processes.all[1].status, 0);
    thread(12, 8, 1002);
    thread(12, 8, 1002);
    assert_int_equal(processes.repeated_starts, 2);
    process(HR_PROCESS_EXIT, 5, 1002, 0, 0, "");
    assert_int_equal(processes.early, 1);
    assert_int_equal(trace_processes_contradictions(&processes), 2 + 2 + 4 + 1);
}

static void test_damaged(void **state)
{
    const struct hr_rec_process_map body = {.pid = 1001,
                                            .map = {.start = 1, .end = 2, .path_bytes = 1}};
    const struct hr_rec_process nobody = {.kind = HR_PROCESS_START};
    struct trace_record record = {.bytes = sizeof body, .body = (const uint8_t *)&body};
    int error = 0;

    (void)state;
    assert_int_equal(trace_processes_take_map(&processes, &record, &error), TRACE_BAD_RECORD);
    record.bytes = 8;
    assert_int_equal(trace_processes_take_map(&processes, &record, &error), TRACE_BAD_RECORD);
    assert_int_equal(trace_processes_take(&processes, &record, &error), TRACE_BAD_RECORD);
    assert_int_equal(trace_processes_take_thread(&processes, &record, &error), TRACE_BAD_RECORD);
    record = (struct trace_record){.bytes = sizeof nobody, .body = (const uint8_t *)&nobody};
    assert_int_equal(trace_processes_take(&processes, &record, &error), TRACE_BAD_RECORD);
    assert_int_equal(error, 0);
}

/* More than there is room for: what is left out is counted, and nothing else breaks. */
static void test_bounds(void **state)
{
    (void)state;
    for (uint32_t i = 1; i <= TRACE_PROCESSES_MAX + 10; i++)
        process(HR_PROCESS_START, 10, FIRST + i, FIRST, 0, "");
    assert_int_equal(processes.count, TRACE_PROCESSES_MAX);
    assert_int_equal(processes.ignored, 11);
    for (uint32_t i = 0; i < TRACE_PROCESS_EXECS_MAX + 5; i++)
        process(HR_PROCESS_EXEC, 20 + i, 1001, 0, 0, "/x");
    assert_int_equal(processes.ignored, 16);
    assert_int_equal(trace_processes_pid(&processes, 1001, 9999), 1001);
    for (uint32_t i = 0; i < 100; i++)
        thread(10000 + i, 9, FIRST + 1 + i);
    assert_int_equal(processes.ignored, 16 + 100 - 64);
    for (uint32_t i = 0; i < TRACE_SPACES_VIEWS_MAX + 10; i++)
        map(20000, 1001, 0x1000, 0x2000, 0x1000ull * i, "/many");
    assert_int_equal(processes.spaces.view_count, TRACE_SPACES_VIEWS_MAX);
    assert_int_equal(processes.ignored, 16 + 100 - 64 + 10);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_none),           TEST(test_threads),      TEST(test_reused),  TEST(test_names),
        TEST(test_spaces),         TEST(test_same_program), TEST(test_covered), TEST(test_place),
        TEST(test_contradictions), TEST(test_damaged),      TEST(test_bounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
