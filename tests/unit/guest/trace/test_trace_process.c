/* guest/trace/trace_process.c: which records processes leave, in which order; whose are the maps.
 */
#include "tests/unit/test.h"

#include <asm/prctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest/base/run.h"
#include "guest/trace/trace_maps.c"
#include "guest/trace/trace_notes.c"
#include "guest/trace/trace_process.c"
#include "lib/trace/trace_reader.h"
#include "tests/unit/guest/fake_phys.h"

struct cpu cpus[CPUS_MAX];
struct run_state run_state;
void (*trace_flush)(void);

static uint64_t offset; /* of the workload clock */
static uint8_t payload[1u << 18];
static unsigned notices;

/* ---- what the files ask of others */

void log_line(const char *format, ...)
{
    (void)format;
    notices++;
}

static char offered[256]; /* what python.c was told */

static void tell(const char *what, uint32_t pid, uint64_t number, const char *path, uint32_t bytes)
{
    size_t used = strlen(offered);

    snprintf(offered + used, sizeof offered - used, "%s %u %lx %.*s;", what, pid, number,
             (int)bytes, path);
}

void python_mapped(uint32_t pid, uint64_t base, const char *path, uint32_t path_bytes)
{
    tell("map", pid, base, path, path_bytes);
}

void python_forked(uint32_t pid, uint32_t parent)
{
    tell("fork", pid, parent, "", 0);
}

void python_gone(uint32_t pid)
{
    tell("gone", pid, 0, "", 0);
}

/* ---- */

static struct process make_process(uint32_t pid, const char *path)
{
    static uint64_t memory[16][16];
    static unsigned used;
    struct process_program *program = (void *)memory[used++ % 16];

    strcpy(program->path, path);
    return (struct process){.pid = pid, .program = program};
}

/* Writes all notes into a chunk; returns a cursor on it. */
static struct trace_cursor written(void)
{
    static struct trace_writer writer;
    struct trace_cursor cursor;

    trace_writer_init(&writer, payload, sizeof payload, HR_CPU_NONE, 0);
    trace_writer_begin(&writer, HR_CHUNK_META);
    trace_notes_write(&writer);
    assert_false(trace_notes_any());
    trace_cursor_init(&cursor, payload + sizeof(struct hr_chunk_header),
                      trace_writer_finish(&writer) - (uint32_t)sizeof(struct hr_chunk_header));
    return cursor;
}

static void expect_process(struct trace_cursor *cursor, const struct hr_rec_process *expected,
                           const char *path)
{
    struct trace_record record;
    struct hr_rec_process process;
    const uint8_t *tail;
    size_t bytes;

    assert_int_equal(trace_next(cursor, &record), TRACE_OK);
    assert_int_equal(record.type, HR_REC_PROCESS);
    assert_true(trace_body(&record, &process, sizeof process, &tail, &bytes));
    assert_true(process.time != 0);
    process.time = 0;
    assert_memory_equal(&process, expected, sizeof process);
    assert_int_equal(bytes, strlen(path));
    assert_memory_equal(tail, path, bytes);
}

static void expect_map(struct trace_cursor *cursor, uint32_t pid, uint64_t start, const char *path)
{
    struct hr_rec_process_map map = {.pid = 0};
    struct trace_record record;
    const uint8_t *tail;
    size_t bytes;

    assert_int_equal(trace_next(cursor, &record), TRACE_OK);
    assert_int_equal(record.type, pid ? HR_REC_PROCESS_MAP : HR_META_MAP);
    if (pid)
        assert_true(trace_body(&record, &map, sizeof map, &tail, &bytes));
    else
        assert_true(trace_body(&record, &map.map, sizeof map.map, &tail, &bytes));
    assert_int_equal(map.pid, pid);
    assert_int_equal(map.time != 0, pid != 0);
    assert_int_equal(map.map.start, start);
    assert_int_equal(map.map.path_bytes, strlen(path));
    assert_int_equal(bytes, (size_t)map.map.build_id_bytes + map.map.path_bytes);
    assert_memory_equal(tail + map.map.build_id_bytes, path, strlen(path));
}

static void expect_end(struct trace_cursor *cursor)
{
    struct trace_record record;

    assert_int_equal(trace_next(cursor, &record), TRACE_END);
}

static struct trace_maps_map library(uint64_t start, const char *path)
{
    return (struct trace_maps_map){.start = start,
                                   .end = start + 4096,
                                   .build_id = (const uint8_t *)"0123",
                                   .build_id_bytes = 4,
                                   .path = path};
}

/* Such a trace is as it was before there were processes. */
static void test_one_process(void **state)
{
    const struct process first = make_process(PROCESS_ID, "/bin/a");
    const struct trace_maps_map map = library(0x7000, "/lib/c");
    struct trace_cursor cursor;

    (void)state;
    trace_map(0x1000, 0x2000, 0, HR_MAP_EXEC, NULL, 0, "/bin/a");
    run_state.started = true;
    trace_process_map(&first, &map);
    trace_process_exit(&first, 0);
    cursor = written();
    expect_map(&cursor, 0, 0x1000, "/bin/a");
    expect_map(&cursor, 0, 0x7000, "/lib/c");
    expect_end(&cursor);
}

static void test_fork_and_exec(void **state)
{
    struct process child = make_process(1001, "/bin/a");
    const struct process first = make_process(PROCESS_ID, "/bin/a");
    const struct trace_maps_map map = library(0x8000, "/lib/d");
    static int thread;
    struct trace_cursor cursor;

    (void)state;
    cpus[0].thread = (struct thread *)(void *)&thread;
    trace_process_start(&child, PROCESS_ID, PROCESS_ID + 5);
    trace_thread_start(1002, 1001);
    trace_process_map(&first, &map);
    strcpy(child.program->path, "/bin/b");
    trace_map(0x3000, 0x4000, 0, HR_MAP_EXEC, NULL, 0, "/bin/b");
    trace_process_exec(&child, child.program->path);
    trace_process_exit(&child, 9);
    cursor = written();
    expect_process(&cursor,
                   &(struct hr_rec_process){.kind = HR_PROCESS_START,
                                            .pid = 1001,
                                            .parent_pid = PROCESS_ID,
                                            .parent_tid = PROCESS_ID + 5},
                   "/bin/a");
    {
        struct trace_record record;
        struct hr_rec_thread made;

        assert_int_equal(trace_next(&cursor, &record), TRACE_OK);
        assert_int_equal(record.type, HR_REC_THREAD);
        assert_true(trace_body(&record, &made, sizeof made, NULL, NULL));
        assert_int_equal(made.tid, 1002);
        assert_int_equal(made.pid, 1001);
    }
    expect_map(&cursor, PROCESS_ID, 0x8000, "/lib/d");
    expect_process(&cursor, &(struct hr_rec_process){.kind = HR_PROCESS_EXEC, .pid = 1001},
                   "/bin/b");
    expect_map(&cursor, 1001, 0x3000, "/bin/b");
    expect_process(&cursor,
                   &(struct hr_rec_process){.kind = HR_PROCESS_EXIT, .pid = 1001, .status = 9}, "");
    expect_end(&cursor);
}

/* An execve that fails leaves nothing; one that another thread makes meanwhile keeps its own. */
static void test_failed_exec(void **state)
{
    static int thread_a, thread_b;
    const struct process process = make_process(1001, "/bin/b");
    struct trace_cursor cursor;

    (void)state;
    cpus[0].thread = (struct thread *)(void *)&thread_a;
    trace_map_forget();
    trace_map(0x3000, 0x4000, 0, HR_MAP_EXEC, NULL, 0, "/bin/bad");
    cpus[0].thread = (struct thread *)(void *)&thread_b;
    trace_map_forget();
    trace_map(0x5000, 0x6000, 0, HR_MAP_EXEC, NULL, 0, "/bin/other");
    cpus[0].thread = (struct thread *)(void *)&thread_a;
    trace_map_forget();
    trace_map(0x3000, 0x4000, 0, HR_MAP_EXEC, NULL, 0, "/bin/b");
    trace_process_exec(&process, process.program->path);
    cursor = written();
    expect_process(&cursor, &(struct hr_rec_process){.kind = HR_PROCESS_EXEC, .pid = 1001},
                   "/bin/b");
    expect_map(&cursor, 1001, 0x3000, "/bin/b");
    expect_end(&cursor);
    cpus[0].thread = (struct thread *)(void *)&thread_b;
    trace_map_forget();
    for (uint32_t i = 0; i < HELD_MAX; i++)
        assert_null(held[i].thread);
    assert_int_equal(notices, 0);
}

static unsigned flushes;

static void flush(void)
{
    flushes++;
    written();
}

/* A queue that is full is emptied by the one who needs room. */
static void test_many(void **state)
{
    struct process child = make_process(1001, "/bin/a");

    (void)state;
    trace_flush = flush;
    for (child.pid = 1001; child.pid < 1001 + 3 * NOTES_MAX; child.pid++)
        trace_process_start(&child, PROCESS_ID, PROCESS_ID);
    assert_int_equal(flushes, 2);
    assert_int_equal(notices, 0);
    written();
}

/* They are told in order, written or not, each once; of too many the last ones. */
static void test_offer(void **state)
{
    struct process child = make_process(1001, "/bin/a");
    struct thread thread = {.process = &child};
    struct trace_maps_map map = library(0x9000, "/lib/python");

    (void)state;
    cpus[0].thread = NULL;
    assert_int_equal(trace_process_offer(), 0);
    offered[0] = 0;
    cpus[0].thread = &thread;
    trace_process_start(&child, PROCESS_ID, PROCESS_ID);
    map.file_offset = 0x1000;
    trace_process_map(&child, &map);
    written();
    trace_thread_start(1002, 1001);
    trace_process_exec(&child, child.program->path);
    trace_process_exit(&child, 0);
    assert_int_equal(trace_process_offer(), 1001);
    assert_string_equal(offered,
                        "fork 1001 3e8 ;map 1001 8000 /lib/python;gone 1001 0 ;gone 1001 0 ;");
    offered[0] = 0;
    trace_process_offer();
    assert_string_equal(offered, "");
    for (uint32_t i = 0; i < NOTES_MAX - 8; i++)
        trace_process_exit(&child, 0);
    offered[0] = 0;
    child.pid = 1003;
    trace_process_exit(&child, 0);
    for (uint32_t i = 1; i < NOTES_LOOKED; i++)
        trace_thread_start(1002, 1001);
    trace_process_offer();
    assert_string_equal(offered, "gone 1003 0 ;");
    written();
}

static int close_memory(void **state)
{
    (void)state;
    fake_phys_close();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_process), cmocka_unit_test(test_fork_and_exec),
        cmocka_unit_test(test_failed_exec), cmocka_unit_test(test_many),
        cmocka_unit_test(test_offer),
    };

    static const struct cpu *self = &cpus[0];

    cpus[0].clock.offset = &offset;
    if (syscall(SYS_arch_prctl, ARCH_SET_GS, &self) != 0) /* where cpu_this looks */
        return 1;
    fake_phys_open(1024);
    return cmocka_run_group_tests(tests, NULL, close_memory);
}
