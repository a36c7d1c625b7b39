/* Tests of host/scan/row_team.c: rows come in their order, whichever thread formats them and
 * however long they are.
 */
#include "host/scan/row_team.h"

#include "tests/unit/host/fixture.h"

#define ROWS 60000u
#define TURN 5000u

struct seen {
    struct trace_scan scan;
    struct row_team *team;
    uint64_t expected; /* row */
    uint64_t formatted; /* by the test's thread */
    pthread_t self;
};

static struct output out;

static int take(void *context, const char *bytes, size_t count)
{
    struct seen *seen = context;

    for (size_t i = 0; i + 8 <= count; i += 8) {
        uint64_t row;

        memcpy(&row, bytes + i, sizeof row);
        if (row != seen->expected++)
            return -EINVAL;
    }
    return count % 8 == 0 ? 0 : -EINVAL;
}

static void put_row(void *owner, struct output *to, const uint64_t *words, const char *bytes)
{
    struct seen *seen = owner;

    (void)bytes;
    output_bytes(to, (const char *)words, sizeof words[0]);
    if (pthread_equal(pthread_self(), seen->self))
        seen->formatted++;
}

static void begin(struct seen *seen, struct fixture *f, unsigned int jobs)
{
    fixture_init(f);
    fixture_begin_data(f);
    fixture_samples(f, 10);
    fixture_end(f);
    *seen = (struct seen){.self = pthread_self()};
    assert_int_equal(trace_scan_open(&seen->scan, fixture_file(f)), 0);
    seen->scan.jobs = jobs;
    output_init(&out, -1);
    out.sink = take;
    out.context = seen;
    seen->team = row_team_new(&out, &seen->scan, put_row, seen);
    assert_non_null(seen->team);
}

static void end(struct seen *seen, struct fixture *f)
{
    row_team_free(seen->team);
    assert_int_equal(output_flush(&out), 0);
    assert_int_equal(seen->expected, ROWS);
    assert_null(seen->scan.after_turn.work);
    trace_scan_close(&seen->scan);
    fixture_free(f);
}

static void put(struct seen *seen, uint64_t i)
{
    size_t text = i % 20011 == 20010 ? OUTPUT_BYTES + 1 : 8; /* one that none has room for */

    row_team_batch(seen->team, 1, 0, text);
    if (i % 5 == 0)
        row_team_bytes(seen->team, &i, sizeof i);
    else
        *row_team_row(seen->team, 1) = i;
}

static void rows_keep_their_order(void **state)
{
    (void)state;
    for (unsigned int jobs = 1; jobs <= 5; jobs++) {
        struct fixture f;
        struct seen seen;

        begin(&seen, &f, jobs);
        for (uint64_t i = 0; i < ROWS; i++) {
            put(&seen, i);
            if (i % 25000 == 24999) {
                row_team_drain(seen.team);
                assert_int_equal(output_flush(&out), 0);
                assert_int_equal(seen.expected, i + 1);
            }
        }
        end(&seen, &f);
    }
}

/* What a turn filled is formatted after it by the same thread: its cache has it. */
static void own_rows_are_formatted_after_a_turn(void **state)
{
    struct fixture f;
    struct seen seen;

    (void)state;
    begin(&seen, &f, 2);
    for (uint64_t i = 0; i < ROWS; i++) {
        if (i % TURN == 0)
            seen.scan.after_turn.work(seen.scan.after_turn.context, 0);
        row_team_batch(seen.team, 1, 0, 8);
        *row_team_row(seen.team, 1) = i;
    }
    assert_in_range(seen.formatted, ROWS - 2 * TURN, ROWS - 1);
    end(&seen, &f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_keep_their_order),
        cmocka_unit_test(own_rows_are_formatted_after_a_turn),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
