/* Requests: spans and sums of what threads and queues did for them, whatever records say. */
#include "host/follow/follow_served.h"

#include <string.h>

#include "tests/unit/test.h"

#define NUMBERS 5000u

struct seen {
    struct follow_request requests[8];
    struct follow_span spans[16];
    uint32_t begun, answered, span_count;
    uint64_t ended, worked;
};

static int take_begin(void *context, const struct follow_request *request)
{
    struct seen *seen = context;

    (void)request;
    seen->begun++;
    return 0;
}

static int take_end(void *context, const struct follow_request *request)
{
    struct seen *seen = context;

    if (seen->answered < 8)
        seen->requests[seen->answered] = *request;
    seen->answered++;
    seen->ended += request->ended;
    return 0;
}

static int take_span(void *context, const struct follow_span *span)
{
    struct seen *seen = context;

    if (seen->span_count < 16)
        seen->spans[seen->span_count] = *span;
    seen->span_count++;
    seen->worked += span->tid != 0 ? span->to - span->from : 0;
    return 0;
}

struct fixture {
    struct seen seen;
    struct trace_info info;
    struct follow_threads threads;
    struct follow_visitor visitor;
    struct follow_served served;
};

static void start(struct fixture *f)
{
    memset(f, 0, sizeof *f);
    trace_info_init(&f->info);
    f->visitor = (struct follow_visitor){
        .context = &f->seen, .requested = take_begin, .answered = take_end, .worked = take_span};
    f->served =
        (struct follow_served){.visitor = &f->visitor, .info = &f->info, .threads = &f->threads};
}

static void stop(struct fixture *f)
{
    follow_served_free(&f->served);
    follow_threads_free(&f->threads);
    trace_info_free(&f->info);
}

static void take(struct fixture *f, uint64_t time, uint32_t tid, uint64_t number, uint32_t kind)
{
    follow_served_take(&f->served, &(struct hr_rec_request){
                                       .time = time, .tid = tid, .request = number, .kind = kind});
}

static void expect_span(const struct fixture *f, uint32_t i, uint32_t tid, uint64_t from,
                        uint64_t to)
{
    assert_int_equal(f->seen.spans[i].tid, tid);
    assert_int_equal(f->seen.spans[i].from, from);
    assert_int_equal(f->seen.spans[i].to, to);
}

/* One that goes through a queue, while two threads serve another one at once. */
static void queue(void **state)
{
    struct fixture f;

    (void)state;
    start(&f);
    take(&f, 10, 1, 7, HR_REQUEST_BEGIN);
    take(&f, 20, 1, 7, HR_REQUEST_BLOCK);
    take(&f, 50, 2, 7, HR_REQUEST_JOIN);
    take(&f, 60, 1, 8, HR_REQUEST_BEGIN);
    take(&f, 70, 3, 8, HR_REQUEST_JOIN);
    take(&f, 90, 2, 7, HR_REQUEST_END);
    take(&f, 100, 3, 8, HR_REQUEST_END); /* for thread 1, too */
    follow_served_finish(&f.served, 200);
    assert_int_equal(f.seen.answered, 2);
    assert_int_equal(f.seen.requests[0].worked, 50);
    assert_int_equal(f.seen.requests[0].blocked, 30);
    assert_int_equal(f.seen.requests[0].end_tid, 2);
    assert_int_equal(f.seen.requests[1].worked, 70);
    assert_int_equal(f.seen.span_count, 5);
    expect_span(&f, 0, 1, 10, 20);
    expect_span(&f, 1, 0, 20, 50);
    expect_span(&f, 2, 2, 50, 90);
    expect_span(&f, 3, 3, 70, 100);
    expect_span(&f, 4, 1, 60, 100);
    stop(&f);
}

/* A number again without an end, joins and ends of what did not begin, and unknown kinds. */
static void lies(void **state)
{
    struct fixture f;

    (void)state;
    start(&f);
    take(&f, 10, 1, 7, HR_REQUEST_BEGIN);
    take(&f, 20, 1, 7, HR_REQUEST_BEGIN);
    take(&f, 25, 1, 7, 0);
    take(&f, 25, 1, 7, 99);
    take(&f, 30, 2, 9, HR_REQUEST_JOIN);
    take(&f, 40, 2, 9, HR_REQUEST_END);
    take(&f, 50, 3, 11, HR_REQUEST_END);
    take(&f, 60, 0, 12, HR_REQUEST_BEGIN); /* of no thread */
    take(&f, 60, 4, 5, HR_REQUEST_LEAVE);
    follow_served_finish(&f.served, 100);
    assert_int_equal(f.seen.begun, f.seen.answered);
    assert_int_equal(f.seen.answered, 5);
    assert_false(f.seen.requests[0].ended);
    assert_int_equal(f.seen.requests[0].end, 20);
    assert_false(f.seen.requests[1].begun);
    assert_true(f.seen.requests[1].ended);
    assert_int_equal(f.seen.requests[2].number, 11);
    assert_int_equal(f.served.count, 0);
    stop(&f);
}

/* Many open ones, which end in another order. */
static void many(void **state)
{
    struct fixture f;

    (void)state;
    start(&f);
    for (uint64_t i = 0; i < NUMBERS; i++)
        take(&f, i, 1 + (uint32_t)(i % 16), i * 64, HR_REQUEST_BEGIN);
    for (uint64_t i = 0; i < NUMBERS; i++)
        if (i % 3 != 0)
            take(&f, NUMBERS + i, 1 + (uint32_t)(i % 5), i * 7 % NUMBERS * 64, HR_REQUEST_END);
    assert_int_equal(f.seen.answered, f.seen.ended);
    assert_int_equal(f.served.count, NUMBERS - f.seen.ended);
    follow_served_finish(&f.served, 3 * NUMBERS);
    assert_int_equal(f.seen.begun, NUMBERS);
    assert_int_equal(f.seen.answered, NUMBERS);
    assert_int_equal(f.served.count, 0);
    stop(&f);
}

static void no_wait(void *context, const struct follow_wait *wait)
{
    (void)context;
    (void)wait;
}

/* Threads come and go: those that have ended give their places to others. */
static void threads(void **state)
{
    struct follow_threads t = {0};

    (void)state;
    for (uint32_t tid = 1; tid <= 3 * FOLLOW_THREADS_MAX; tid++) {
        const struct hr_rec_switch change = {
            .time = tid, .from_tid = tid, .reason = HR_SWITCH_EXIT};

        assert_non_null(follow_threads_get(&t, tid));
        if (tid % 2 == 0 || tid > FOLLOW_THREADS_MAX)
            follow_threads_switch(&t, &change, no_wait, NULL);
    }
    assert_null(follow_threads_find(&t, 0));
    assert_null(follow_threads_get(&t, 0));
    assert_true(t.count <= FOLLOW_THREADS_MAX);
    assert_int_equal(t.refused, 0);
    for (uint32_t tid = 1; tid <= FOLLOW_THREADS_MAX; tid += 2)
        follow_threads_find(&t, tid)->innermost = tid;
    for (uint32_t tid = 1000000; tid < 1000000 + FOLLOW_THREADS_MAX; tid++)
        follow_threads_get(&t, tid);
    assert_int_not_equal(t.refused, 0); /* of live ones */
    assert_int_equal(follow_threads_find(&t, 77)->innermost, 77);
    follow_threads_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queue),
        cmocka_unit_test(lies),
        cmocka_unit_test(many),
        cmocka_unit_test(threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
