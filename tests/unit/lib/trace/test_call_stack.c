/* Calls told by hooks, and looks at a shadow stack that its thread changes at the same time. */
#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>

#include "lib/trace/call_stack.h"

#define FRAME 64u

static struct call_entry entries[CALL_STACK_MAX];
static struct call_stack stack;

static void reset(void)
{
    memset(entries, 0, sizeof entries);
    stack = (struct call_stack){.entries = entries};
}

static uint64_t sp_of(uint32_t depth)
{
    return 0x7ffff0000000u - (uint64_t)depth * FRAME;
}

static void enter(uint64_t function, uint32_t depth)
{
    assert_non_null(call_stack_enter(&stack, function, 1, sp_of(depth)));
}

/* Returns the stack pointer of the entry that a return ends; 0: none. */
static uint64_t leave(uint64_t function, uint64_t sp)
{
    struct call_entry ended;

    return call_stack_leave(&stack, function, 1, sp, &ended) ? ended.mark : 0;
}

static void returns_have_their_entries(void **state)
{
    (void)state;
    reset();
    for (uint32_t i = 0; i < 5; i++)
        enter(7, i);
    enter(8, 5);
    assert_int_equal(leave(8, sp_of(5)), sp_of(5));
    for (uint32_t i = 5; i-- > 0;)
        assert_int_equal(leave(7, sp_of(i)), sp_of(i));
    assert_int_equal(stack.depth, 0);
    assert_int_equal(leave(7, sp_of(0)), 0);
    assert_int_equal(stack.strays, 1);
}

static void tail_calls_and_alloca_move_the_stack_pointer(void **state)
{
    (void)state;
    reset();
    for (uint32_t i = 0; i < 3; i++)
        enter(7, i);
    assert_int_equal(leave(7, sp_of(2) + FRAME / 2), sp_of(2)); /* the hook was jumped to */
    assert_int_equal(leave(7, sp_of(1) - 4096), sp_of(1));
    assert_int_equal(stack.depth, 1);
}

static void longjmp_leaves_what_is_inside(void **state)
{
    (void)state;
    reset();
    for (uint32_t i = 0; i < 6; i++)
        enter(7, i);
    assert_int_equal(leave(7, sp_of(2)), sp_of(2)); /* also within a recursion */
    assert_int_equal(stack.depth, 2);
    for (uint32_t i = 2; i < 6; i++)
        enter(9, i);
    enter(8, 3); /* at the place of one that was left */
    assert_int_equal(stack.depth, 4);
    assert_int_equal(leave(8, sp_of(3)), sp_of(3));
}

static void other_stacks_stay(void **state)
{
    uint64_t other = sp_of(0) - 16 * CALL_STACK_NEAR;

    (void)state;
    reset();
    enter(7, 0);
    assert_non_null(call_stack_enter(&stack, 8, 1, other));
    enter(9, 1);
    assert_int_equal(leave(7, sp_of(0)), sp_of(0)); /* 9 was left */
    assert_int_equal(stack.depth, 1);
    assert_int_equal(leave(8, other), other);
}

static void too_deep_calls_are_no_entries(void **state)
{
    struct call_entry ended;

    (void)state;
    reset();
    for (uint32_t i = 0; i < CALL_STACK_MAX; i++)
        enter(7, i);
    for (uint32_t i = 0; i < 3; i++)
        assert_null(call_stack_enter(&stack, 7, 1, sp_of(CALL_STACK_MAX + i)));
    for (uint32_t i = 3; i-- > 0;)
        assert_false(call_stack_leave(&stack, 7, 1, sp_of(CALL_STACK_MAX + i), &ended));
    for (uint32_t i = CALL_STACK_MAX; i-- > 0;)
        assert_int_equal(leave(7, sp_of(i)), sp_of(i));
    assert_int_equal(stack.strays, 0);
}

/* ---- looks ---- */

#define CALLS 1000000u
#define PERIOD 100u /* ticks between looks */
#define SHORT_TICKS 40u
#define LONG_TICKS 1500u

static struct hr_abi_shadow_entry shadow[CALL_STACK_MAX];

struct call { /* number n has function n + 1 */
    uint64_t began, ended, seen, gone;
};

static struct { /* a thread, which executes one instruction of a hook a tick */
    struct call *calls;
    uint32_t count, depth;
    uint32_t top; /* depth as the shadow stack shows it */
    uint32_t open[CALL_STACK_MAX]; /* numbers */
    uint32_t step; /* of an entry; 0: between hooks */
    uint64_t now, until; /* the innermost call, or what is outside all, goes on */
    uint64_t random;
    bool runs; /* while it is looked at */
} thread;

static uint64_t chance(uint64_t below)
{
    thread.random = thread.random * 6364136223846793005u + 1442695040888963407u;
    return (thread.random >> 33) % below;
}

static void begin_call(void)
{
    thread.open[thread.depth++] = thread.count++;
    thread.step = 1;
}

/* Writes what the hook writes, in its order. */
static void write_entry(void)
{
    uint32_t number = thread.open[thread.depth - 1];
    struct hr_abi_shadow_entry *entry = &shadow[thread.depth - 1];

    entry->generation += thread.step == 1 || thread.step == 5;
    if (thread.step == 2)
        thread.top++;
    else if (thread.step == 3)
        entry->function = number + 1;
    else if (thread.step == 4)
        entry->call_site = 3 * (uint64_t)number;
    if (++thread.step <= 5)
        return;
    thread.step = 0;
    thread.calls[number].began = thread.now;
    thread.until = thread.now + chance(chance(64) ? SHORT_TICKS : LONG_TICKS);
}

static void tick(void)
{
    thread.now++;
    if (thread.step != 0)
        write_entry();
    else if (thread.now < thread.until)
        return;
    else if (thread.count < CALLS && thread.depth < 50 && (thread.depth == 0 || chance(2)))
        begin_call();
    else if (thread.depth != 0)
        thread.calls[thread.open[thread.top = --thread.depth]].ended = thread.now;
}

static const struct hr_abi_shadow_entry *read_shadow(void *context, uint32_t depth)
{
    (void)context;
    for (uint64_t i = thread.runs ? chance(3) : 0; i > 0; i--)
        tick();
    return &shadow[depth];
}

static void ended(void *context, uint32_t depth, struct call_entry *entry)
{
    (void)context;
    (void)depth;
    assert_int_equal(thread.calls[entry->note].gone, 0);
    thread.calls[entry->note].gone = thread.now;
}

static void begun(void *context, uint32_t depth, struct call_entry *entry)
{
    (void)context;
    assert_true(entry->function >= 1 && entry->function <= thread.count);
    entry->note = entry->function - 1;
    assert_int_equal(entry->call_site, 3 * entry->note); /* never of two calls */
    assert_int_equal(thread.calls[entry->note].seen, 0); /* never twice */
    thread.calls[entry->note].seen = thread.now;
    assert_int_equal(depth, stack.depth);
}

/* Runs all calls, looking once a period.  Returns the longest time from the start of a look to the
 * end of the next one. */
static uint64_t run(const struct call_stack_visitor *visitor)
{
    uint64_t longest = 0, last = 0, next;

    while (thread.count < CALLS || thread.depth != 0) {
        for (uint64_t until = last + PERIOD; thread.now < until;)
            tick();
        next = thread.now;
        call_stack_look(&stack, thread.top, visitor);
        longest = thread.now - last > longest ? thread.now - last : longest;
        last = next;
    }
    for (uint32_t i = 0; i < PERIOD; i++)
        tick();
    thread.runs = false;
    call_stack_look(&stack, thread.top, visitor);
    call_stack_finish(&stack, visitor);
    return longest + 4; /* an entry is seen when the hook has written it */
}

static void look_at_a_million_calls(bool runs)
{
    const struct call_stack_visitor visitor = {NULL, read_shadow, ended, begun};
    uint64_t seen = 0, longer = 0, period;

    reset();
    memset(shadow, 0, sizeof shadow);
    memset(&thread, 0, sizeof thread);
    thread.calls = calloc(CALLS, sizeof thread.calls[0]);
    thread.random = 1;
    thread.runs = runs;
    period = run(&visitor);
    for (uint32_t i = 0; i < CALLS; i++) {
        const struct call *call = &thread.calls[i];
        uint64_t ticks = call->ended - call->began, shown = call->gone - call->seen;

        seen += call->seen != 0;
        if (call->seen != 0)
            assert_true((ticks > shown ? ticks - shown : shown - ticks) <= period);
        if (ticks <= 2 * period)
            continue;
        longer++;
        assert_int_not_equal(call->seen, 0);
    }
    assert_true(longer > CALLS / 100);
    assert_int_equal(seen + stack.missed, CALLS); /* each call is seen or counted */
    assert_true(stack.missed > CALLS / 100);
    free(thread.calls);
}

static void no_long_call_is_missed(void **state)
{
    (void)state;
    look_at_a_million_calls(false);
}

static void nor_while_the_thread_runs(void **state)
{
    (void)state;
    look_at_a_million_calls(true);
}

static const struct hr_abi_shadow_entry *unreadable(void *context, uint32_t depth)
{
    (void)context;
    (void)depth;
    return NULL;
}

static void what_cannot_be_read_changes_nothing(void **state)
{
    const struct call_stack_visitor visitor = {NULL, unreadable, ended, begun};

    (void)state;
    reset();
    call_stack_look(&stack, 5, &visitor);
    assert_int_equal(stack.depth, 0);
    stack.depth = 3;
    call_stack_look(&stack, 5, &visitor);
    assert_int_equal(stack.depth, 3);
    call_stack_finish(&stack, &visitor);
    assert_int_equal(stack.missed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(returns_have_their_entries),
        cmocka_unit_test(tail_calls_and_alloca_move_the_stack_pointer),
        cmocka_unit_test(longjmp_leaves_what_is_inside),
        cmocka_unit_test(other_stacks_stay),
        cmocka_unit_test(too_deep_calls_are_no_entries),
        cmocka_unit_test(no_long_call_is_missed),
        cmocka_unit_test(nor_while_the_thread_runs),
        cmocka_unit_test(what_cannot_be_read_changes_nothing),
    };
    return cmocka_run_group_tests_name("call_stack", tests, NULL, NULL);
}
