/* From calls of allocators to objects: what is told in which order, and what hostile calls do. */
#include "host/heap/memory_heap.h"

#include <string.h>

#include "host/heap/memory_totals.h"
#include "tests/unit/test.h"

static struct trace_scan scan;
static struct memory_totals totals;
static uint64_t last_time; /* that was told */
static bool in_order; /* times are */

static int allocated(void *context, uint32_t pid, const struct memory_object *object)
{
    struct memory_heap *heap = context;

    (void)pid;
    assert_true(object->time >= last_time || !in_order);
    assert_true(object->site < heap->sites.count);
    last_time = object->time;
    memory_totals_allocated(&totals, object);
    return 0;
}

static int freed(void *context, uint32_t pid, const struct memory_object *object, uint64_t time)
{
    assert_true(time >= last_time || !in_order);
    last_time = time;
    (void)context;
    (void)pid;
    memory_totals_freed(&totals, object);
    return 0;
}

static void left(void *context, uint32_t pid, const struct memory_object *object)
{
    (void)context;
    (void)pid;
    memory_totals_left(&totals, object);
}

static void start(struct memory_heap *heap)
{
    memset(&scan, 0, sizeof scan);
    trace_info_init(&scan.info);
    selection_init(&scan.selection);
    totals = (struct memory_totals){0};
    last_time = 0;
    in_order = true;
    memory_heap_init(heap, &scan);
    heap->sink = (struct memory_heap_sink){
        .context = heap, .allocated = allocated, .freed = freed, .left = left};
}

static void stop(struct memory_heap *heap)
{
    memory_heap_free(heap);
    trace_info_free(&scan.info);
}

static void call(struct memory_heap *heap, uint64_t time, uint32_t tid, uint64_t address,
                 uint64_t bytes, uint64_t old)
{
    const struct trace_hit hit = {
        .time = time, .tid = tid, .arguments = {address, bytes, old, 0x401000}};
    const struct trace_hits hits = {.hits = &hit, .count = 1};

    assert_int_equal(memory_heap_take_hits(heap, &hits), 0);
}

static uint64_t strays(const struct memory_heap *heap, bool twice)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < heap->stray_count; i++)
        sum += twice ? heap->strays[i].twice : heap->strays[i].unknown;
    return sum;
}

static void one_process(void **state)
{
    struct memory_heap heap;

    (void)state;
    start(&heap);
    call(&heap, 10, 1000, 0x1000, 100, 0);
    call(&heap, 20, 1000, 0x2000, 300, 0x1000); /* realloc that moves */
    call(&heap, 30, 1000, 0x2000, 400, 0x2000); /* and one that does not */
    call(&heap, 40, 1001, 0, 0, 0x2000); /* freed by another thread */
    call(&heap, 50, 1001, 0, 0, 0x2000);
    call(&heap, 60, 1001, 0, 0, 0x9999);
    call(&heap, 70, 1000, 0x3000, 7, 0);
    call(&heap, 80, 1000, 0x3000, 8, 0); /* its end was not seen */
    assert_int_equal(memory_heap_finish(&heap), 0);
    assert_int_equal(totals.count, 5);
    assert_int_equal(totals.bytes, 815);
    assert_int_equal(totals.freed, 4);
    assert_int_equal(totals.left_bytes, 8);
    assert_int_equal(totals.peak_bytes, 400);
    assert_int_equal(totals.peak_time, 30);
    assert_int_equal(strays(&heap, true), 1);
    assert_int_equal(strays(&heap, false), 1);
    assert_int_equal(heap.objects.replaced, 1);
    stop(&heap);
}

/* Chunks of several CPUs come one after another. */
static void several_cpus(void **state)
{
    struct memory_heap heap;

    (void)state;
    start(&heap);
    heap.gathers = true;
    for (uint64_t i = 0; i < 100; i++)
        call(&heap, 100 + 10 * i, 1000, 0x1000 + 64 * i, 32, 0);
    for (uint64_t i = 0; i < 100; i++) /* freed between the others */
        call(&heap, 105 + 10 * i, 1001, 0, 0, 0x1000 + 64 * i);
    assert_int_equal(totals.count, 0);
    assert_int_equal(memory_heap_advance(&heap, 502), 0);
    assert_non_null(memory_objects_find(&heap.objects, HR_FIRST_PID, 0x1000 + 64 * 40 + 31, 502));
    assert_null(memory_objects_find(&heap.objects, HR_FIRST_PID, 0x1000 + 64 * 39, 502));
    assert_int_equal(memory_heap_finish(&heap), 0);
    assert_int_equal(totals.count, 100);
    assert_int_equal(totals.freed, 100);
    assert_int_equal(totals.peak, 1);
    stop(&heap);
}

static void process(struct memory_heap *heap, uint64_t time, uint32_t kind, uint32_t pid)
{
    const struct hr_rec_process body = {.time = time,
                                        .kind = kind,
                                        .pid = pid,
                                        .parent_pid = kind == HR_PROCESS_START ? HR_FIRST_PID : 0};
    const struct trace_record record = {
        .type = HR_REC_PROCESS, .bytes = sizeof body, .body = (const uint8_t *)&body};
    const struct trace_chunk chunk = {.header = {.type = HR_CHUNK_META}};
    int error = trace_processes_begin(&scan.info.processes);

    assert_int_equal(trace_processes_take(&scan.info.processes, &record, &error), TRACE_OK);
    assert_int_equal(memory_heap_take_record(heap, &chunk, &record), 0);
    assert_int_equal(error, 0);
}

/* What happens to processes is told ahead of their calls. */
static void forks(void **state)
{
    struct memory_heap heap;

    (void)state;
    start(&heap);
    process(&heap, 50, HR_PROCESS_START, 1005);
    process(&heap, 90, HR_PROCESS_EXIT, 1005);
    call(&heap, 10, HR_FIRST_PID, 0x1000, 100, 0);
    call(&heap, 20, HR_FIRST_PID, 0x2000, 100, 0);
    call(&heap, 60, 1005, 0, 0, 0x1000); /* the child's copy */
    call(&heap, 70, 1005, 0x3000, 50, 0);
    call(&heap, 80, HR_FIRST_PID, 0, 0, 0x1000);
    call(&heap, 95, HR_FIRST_PID, 0, 0, 0x2000);
    assert_int_equal(totals.left, 1);
    assert_int_equal(totals.left_bytes, 50);
    assert_int_equal(memory_heap_finish(&heap), 0);
    assert_int_equal(totals.count, 3);
    assert_int_equal(totals.freed, 2);
    assert_int_equal(totals.left, 1);
    assert_int_equal(strays(&heap, true) + strays(&heap, false), 0);
    stop(&heap);
}

/* Calls as no allocator makes them. */
static void hostile(void **state)
{
    struct test_random random = {3};
    struct memory_heap heap;

    (void)state;
    start(&heap);
    in_order = false;
    process(&heap, 10, HR_PROCESS_START, 1001);
    for (int i = 0; i < 20000; i++) {
        static const uint64_t odd[] = {0, 1, UINT64_MAX, INT64_MAX, 1ull << 47, 4096};
        uint64_t address = odd[test_random_below(&random, 6)] + test_random_below(&random, 3);
        uint64_t old = odd[test_random_below(&random, 6)];

        call(&heap, test_random_next(&random), 1000 + (uint32_t)test_random_below(&random, 3),
             address, odd[test_random_below(&random, 6)], old);
    }
    assert_int_equal(memory_heap_finish(&heap), 0);
    assert_int_equal(heap.objects.live, 0);
    assert_int_equal(totals.freed + totals.left, totals.count);
    stop(&heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_process),
        cmocka_unit_test(several_cpus),
        cmocka_unit_test(forks),
        cmocka_unit_test(hostile),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
