/* Lanes: who ran when, bounds on spans, records that lie. */
#include "host/view/data/view_lanes.h"
#include "tests/unit/host/view/data/columns_reader.h"
#include "tests/unit/test.h"

struct fixture {
    struct view_blocks blocks;
    struct view_lanes lanes;
    struct columns_reader reader;
};

static int setup(void **state)
{
    static struct fixture f;

    memset(&f, 0, sizeof f);
    *state = &f;
    return view_blocks_init(&f.blocks, 0, VIEW_BLOCKS_BITS) != 0 ||
           view_lanes_init(&f.lanes, &f.blocks) != 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    columns_reader_close(&f->reader);
    view_lanes_free(&f->lanes);
    view_blocks_free(&f->blocks);
    return 0;
}

static void record(struct fixture *f, uint8_t type, const void *body, uint16_t bytes, uint64_t end)
{
    const struct hr_chunk_header chunk = {.cpu = 1, .time_last = end};
    const struct trace_record r = {.type = type, .bytes = bytes, .body = body};

    assert_int_equal(view_lanes_record(&f->lanes, &chunk, &r), 0);
}

static void change(struct fixture *f, uint64_t time, uint32_t from, uint32_t to, uint64_t end)
{
    const struct hr_rec_switch body = {time, from, to, HR_SWITCH_BLOCK, 0};

    record(f, HR_REC_SWITCH, &body, sizeof body, end);
}

static void pack(struct fixture *f)
{
    static struct trace_info info;
    struct view_columns columns;

    view_columns_init(&columns);
    trace_info_init(&info);
    view_lanes_pack(&f->lanes, &info, &columns);
    columns_reader_open(&f->reader, &columns);
}

static void test_runs(void **state)
{
    struct fixture *f = *state;
    uint64_t *first, *length;
    size_t count;

    change(f, 0, 0, 7, 1000);
    change(f, 300, 7, 8, 1000);
    change(f, 500, 8, 0, 1000);
    change(f, 600, 0, 7, 1000);
    pack(f);
    first = columns_reader_get(&f->reader, "runs.first", &count);
    length = columns_reader_get(&f->reader, "runs.length", &count);
    assert_int_equal(count, 3);
    assert_int_equal(first[0], 0);
    assert_int_equal(length[0], 300);
    assert_int_equal(first[2], 600);
    assert_int_equal(length[2], 400); /* to the end of the chunk */
    free(first);
    free(length);
}

static void test_threads_without_switches_come_from_samples(void **state)
{
    struct fixture *f = *state;
    const struct hr_chunk_header chunk = {.cpu = 2};
    struct trace_slot slots[2] = {{.time = 100, .tid = 5}, {.time = 900, .tid = 5}};
    const struct trace_samples samples = {
        .chunk = &chunk, .previous = &slots[0], .slots = slots, .count = 2};

    assert_int_equal(view_lanes_samples(&f->lanes, &samples), 0);
    pack(f);
    assert_int_equal(columns_reader_sum(&f->reader, "runs.length"), 800);
}

/* Times that go back, spans of a lifetime: every step is bounded, spans of a CPU do not overlap. */
static void test_hostile_switches(void **state)
{
    struct fixture *f = *state;
    uint64_t cells;

    for (uint32_t i = 0; i < 200000; i++)
        change(f, (i + 1) * 0x9e3779b97f4a7c15u, i % 999, 1 + i % 999, UINT64_MAX);
    assert_true(f->lanes.spans[VIEW_RUNS].count <= VIEW_SPANS_MAX);
    pack(f);
    cells = columns_reader_sum(&f->reader, "run_cells");
    assert_true(cells > 0 && cells <= VIEW_CELLS * 256 + f->lanes.spans[VIEW_RUNS].seen);
}

static void test_short_spans_go_first(void **state)
{
    struct fixture *f = *state;
    struct hr_rec_gap gap = {0, 0, HR_GAP_SLEEP, 1};

    for (uint32_t i = 0; i < 3 * VIEW_SPANS_MAX; i++) {
        gap.time_first = (uint64_t)i * 10000;
        gap.time_last = gap.time_first + (i % 1000 == 0 ? 5000 : i % 16);
        record(f, HR_REC_GAP, &gap, sizeof gap, gap.time_last);
    }
    pack(f);
    assert_true(f->lanes.spans[VIEW_GAPS].count <= VIEW_SPANS_MAX);
    assert_int_equal(f->lanes.spans[VIEW_GAPS].seen, 3 * VIEW_SPANS_MAX);
    assert_true(columns_reader_sum(&f->reader, "gaps.length") >=
                5000ull * 3 * VIEW_SPANS_MAX / 1000);
}

static void test_marks_are_escaped_and_bounded(void **state)
{
    struct fixture *f = *state;
    uint8_t body[sizeof(struct hr_rec_mark) + 3000] = {0};
    json_t *marks;

    memset(body + sizeof(struct hr_rec_mark), 0x1b, 3000);
    for (uint32_t i = 0; i < VIEW_MARKS_MAX + 5; i++)
        record(f, HR_REC_MARK, body, i % 2 == 0 ? sizeof body : sizeof(struct hr_rec_mark), 1);
    record(f, HR_REC_MARK, body, 3, 1); /* too short */
    record(f, HR_REC_SWITCH, body, 3, 1);
    record(f, HR_REC_SYSCALL, body, 3, 1);
    pack(f);
    marks = json_object_get(f->reader.json, "marks");
    assert_int_equal(json_array_size(marks), VIEW_MARKS_MAX);
    assert_null(strchr(json_string_value(json_array_get(json_array_get(marks, 0), 3)), 0x1b));
    assert_int_equal(json_integer_value(json_object_get(f->reader.json, "mark_count")),
                     VIEW_MARKS_MAX + 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_runs, setup, teardown),
        cmocka_unit_test_setup_teardown(test_threads_without_switches_come_from_samples, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_hostile_switches, setup, teardown),
        cmocka_unit_test_setup_teardown(test_short_spans_go_first, setup, teardown),
        cmocka_unit_test_setup_teardown(test_marks_are_escaped_and_bounded, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
