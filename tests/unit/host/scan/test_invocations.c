/* Invocations: threads that call, return, jump out, loop and switch stacks, against what they
 * really did. */
#include "host/scan/invocations.h"

#include <string.h>

#include "tests/unit/test.h"

#define FUNCTIONS 6u
#define STACKS 3u
#define FRAMES 40u
#define MADE_MAX 40000u

enum truth { OPEN, RETURNED, LEFT, UNKNOWN, NEVER /* it found no room */ };

static struct {
    struct invocations v;
    uint32_t of_slot[INVOCATIONS_MAX]; /* number of what was made */
    enum truth truth[MADE_MAX], found[MADE_MAX];
    uint32_t outer[MADE_MAX], found_outer[MADE_MAX];
    uint32_t made;
} t;

static void ended(void *context, uint32_t slot, const struct invocations_open *open,
                  enum invocations_end end)
{
    uint32_t number = t.of_slot[slot];

    assert_ptr_equal(context, &t);
    assert_true(slot < INVOCATIONS_MAX && open == &t.v.open[slot]);
    assert_int_equal(t.found[number], OPEN);
    t.found[number] = end == INVOCATIONS_RETURNED ? RETURNED
                      : end == INVOCATIONS_LEFT   ? LEFT
                                                  : UNKNOWN;
}

static const struct invocations_visitor visitor = {&t, ended};

static void start(void)
{
    memset(&t, 0, sizeof t);
    memset(&t.v, 0xff, sizeof t.v); /* whatever was there */
    invocations_init(&t.v);
}

static bool loops; /* functions jump to their first instructions */

/* Enters; returns the number of the new invocation. */
static uint32_t enter(uint32_t function, uint64_t sp)
{
    uint32_t slot = invocations_enter(&t.v, function, sp, loops, &visitor);

    if (slot == INVOCATIONS_NONE)
        return UINT32_MAX;
    t.of_slot[slot] = t.made;
    t.found_outer[t.made] =
        t.v.open[slot].outer == INVOCATIONS_NONE ? UINT32_MAX : t.of_slot[t.v.open[slot].outer];
    return t.made++;
}

static void a_call_and_its_return(void **state)
{
    (void)state;
    start();
    assert_int_equal(enter(1, 1000), 0);
    assert_int_equal(enter(2, 900), 1);
    assert_true(invocations_return(&t.v, 2, 900, &visitor));
    assert_true(invocations_return(&t.v, 1, 1000, &visitor));
    assert_int_equal(t.found[0], RETURNED);
    assert_int_equal(t.found[1], RETURNED);
    assert_int_equal(t.found_outer[1], 0);
    assert_int_equal(t.v.depth, 0);
    assert_false(invocations_return(&t.v, 1, 1000, &visitor));
    assert_int_equal(t.v.strays, 1);
}

static void a_loop_is_no_call(void **state)
{
    (void)state;
    start();
    loops = true;
    assert_int_equal(enter(1, 1000), 0);
    for (int i = 0; i < 10; i++)
        assert_int_equal(enter(1, 1000), UINT32_MAX);
    assert_int_equal(enter(1, 992), 1); /* recursion */
    assert_int_equal(t.v.again, 10);
    assert_true(invocations_return(&t.v, 1, 992, &visitor));
    assert_true(invocations_return(&t.v, 1, 1000, &visitor));
    loops = false;
}

/* A function that does not jump to its first instruction was called again: longjmp left it. */
static void an_entry_at_an_open_one(void **state)
{
    (void)state;
    start();
    assert_int_equal(enter(1, 1000), 0);
    assert_int_equal(enter(1, 900), 1);
    assert_int_equal(enter(1, 1000), 2);
    assert_int_equal(t.found[0], LEFT);
    assert_int_equal(t.found[1], LEFT);
    assert_true(invocations_return(&t.v, 1, 1000, &visitor));
    assert_int_equal(t.v.depth, 0);
}

/* After a tail call another function has the same stack pointer; without a hit at the jump the
 * first one was left. */
static void a_tail_call(void **state)
{
    (void)state;
    start();
    enter(1, 1000);
    assert_true(invocations_return(&t.v, 1, 1000, &visitor));
    enter(2, 1000);
    enter(3, 1000);
    assert_int_equal(t.found[1], LEFT);
    assert_true(invocations_return(&t.v, 3, 1000, &visitor));
    assert_int_equal(t.v.depth, 0);
}

static void deep_recursion_is_bounded(void **state)
{
    (void)state;
    start();
    for (uint64_t i = 0; i < 100000; i++)
        enter(1, UINT64_MAX / 2 - 16 * i);
    assert_int_equal(t.v.depth, INVOCATIONS_MAX);
    assert_int_equal(t.v.deep, 100000 - INVOCATIONS_MAX);
    assert_int_equal(t.made, INVOCATIONS_MAX);
    enter(2, UINT64_MAX / 2 - 8); /* all but the first were left, however deep the stack */
    assert_int_equal(t.v.depth, 2);
    for (uint32_t i = 1; i < INVOCATIONS_MAX; i++)
        assert_int_equal(t.found[i], LEFT);
}

/* Frames of a megabyte: the stack is deeper than what tells stacks apart. */
static void large_frames(void **state)
{
    (void)state;
    start();
    for (uint64_t i = 0; i < 10; i++)
        enter((uint32_t)i, (1ull << 40) - i * INVOCATIONS_STACK_BYTES);
    enter(20, (1ull << 40) - 16);
    assert_int_equal(t.v.depth, 2);
    assert_true(invocations_return(&t.v, 0, 1ull << 40, &visitor));
    assert_int_equal(t.v.depth, 0);
}

static void an_end_and_a_loss(void **state)
{
    (void)state;
    start();
    enter(1, 1000);
    enter(2, 900);
    invocations_end(&t.v, INVOCATIONS_UNKNOWN, &visitor);
    enter(3, 1000);
    invocations_end(&t.v, INVOCATIONS_LEFT, &visitor);
    assert_int_equal(t.found[0], UNKNOWN);
    assert_int_equal(t.found[1], UNKNOWN);
    assert_int_equal(t.found[2], LEFT);
}

struct frame {
    uint32_t function, number; /* UINT32_MAX: not an invocation of its own */
    uint64_t sp;
};

struct stack { /* of a coroutine */
    struct frame frames[FRAMES];
    uint32_t depth;
    uint64_t top;
};

/* What is jumped over is left, as soon as it shows. */
static void jump_out(struct stack *s, uint32_t to)
{
    while (s->depth > to)
        t.truth[s->frames[--s->depth].number] = LEFT;
}

static void call(struct stack *s, struct test_random *random)
{
    uint64_t around = s->depth != 0 ? s->frames[s->depth - 1].sp : s->top;
    struct frame *frame = &s->frames[s->depth];

    frame->function = (uint32_t)test_random_below(random, FUNCTIONS);
    frame->sp = around - 16 - 8 * test_random_below(random, 20);
    t.truth[t.made] = OPEN;
    t.outer[t.made] = s->depth != 0 ? s->frames[s->depth - 1].number : UINT32_MAX;
    frame->number = t.made;
    assert_int_equal(enter(frame->function, frame->sp), frame->number);
    s->depth++;
}

static void step(struct stack *s, struct test_random *random)
{
    uint64_t what = test_random_below(random, 100);

    if (what < 48 && s->depth < FRAMES) {
        call(s, random);
    } else if (what < 92 && s->depth != 0) {
        struct frame *frame = &s->frames[--s->depth];

        assert_true(invocations_return(&t.v, frame->function, frame->sp, &visitor));
        t.truth[frame->number] = RETURNED;
    } else if (what < 96 && s->depth != 0) { /* the innermost one loops */
        struct frame *frame = &s->frames[s->depth - 1];

        loops = true;
        assert_int_equal(enter(frame->function, frame->sp), UINT32_MAX);
        loops = false;
    } else if (s->depth > 1) { /* longjmp, and then the function that it led to returns */
        struct frame *frame;

        jump_out(s, 1 + (uint32_t)test_random_below(random, s->depth - 1));
        frame = &s->frames[--s->depth];
        assert_true(invocations_return(&t.v, frame->function, frame->sp, &visitor));
        t.truth[frame->number] = RETURNED;
    }
}

static void as_it_was(uint32_t stacks, uint64_t seed)
{
    struct stack s[STACKS] = {0};
    struct test_random random = {seed};
    uint32_t now = 0, open = 0;

    start();
    for (uint32_t i = 0; i < STACKS; i++)
        s[i].top = 0x7f0000000000 + i * 0x1000000ull;
    while (t.made < MADE_MAX - 2) {
        if (test_random_below(&random, 10) == 0)
            now = (uint32_t)test_random_below(&random, stacks);
        step(&s[now], &random);
        open = s[0].depth + s[1].depth + s[2].depth;
        assert_int_equal(t.v.depth, open);
    }
    invocations_end(&t.v, INVOCATIONS_UNKNOWN, &visitor);
    for (uint32_t i = 0; i < STACKS; i++)
        while (s[i].depth != 0)
            t.truth[s[i].frames[--s[i].depth].number] = UNKNOWN;
    for (uint32_t i = 0; i < t.made; i++) {
        assert_int_equal(t.found[i], t.truth[i]);
        assert_int_equal(t.found_outer[i], t.outer[i]);
    }
    assert_int_equal(t.v.strays + t.v.deep, 0);
}

static void one_stack(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++)
        as_it_was(1, seed);
}

static void coroutines(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++)
        as_it_was(STACKS, seed);
}

/* Any hits: each entry ends once, and memory is not exceeded. */
static void lies(void **state)
{
    struct test_random random = {4};

    (void)state;
    start();
    for (uint32_t i = 0; i < 300000 && t.made < MADE_MAX - 1; i++) {
        uint64_t sp = test_random_below(&random, 400) << test_random_below(&random, 24);

        if (test_random_below(&random, 3) != 0)
            enter((uint32_t)test_random_below(&random, 3), sp);
        else
            invocations_return(&t.v, (uint32_t)test_random_below(&random, 3), sp, &visitor);
        assert_true(t.v.depth <= INVOCATIONS_MAX);
    }
    invocations_end(&t.v, INVOCATIONS_LEFT, &visitor);
    for (uint32_t i = 0; i < t.made; i++)
        assert_int_not_equal(t.found[i], OPEN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_and_its_return),
        cmocka_unit_test(a_loop_is_no_call),
        cmocka_unit_test(an_entry_at_an_open_one),
        cmocka_unit_test(a_tail_call),
        cmocka_unit_test(deep_recursion_is_bounded),
        cmocka_unit_test(large_frames),
        cmocka_unit_test(an_end_and_a_loss),
        cmocka_unit_test(one_stack),
        cmocka_unit_test(coroutines),
        cmocka_unit_test(lies),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
