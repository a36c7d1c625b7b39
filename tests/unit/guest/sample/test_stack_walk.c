/* guest/sample/stack_walk.c: chains of frames in a fake memory, well-formed and hostile; copies. */
#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>

#include "guest/sample/stack_check.c"
#include "guest/sample/stack_walk.c"

#define BASE 0x7ff000000000ull /* where the fake memory is */
#define PAGES 64u
#define LIMIT 127u
#define RESTORER 0x401234ull

static uint8_t memory[PAGES * PAGE_BYTES] __attribute__((aligned(4096)));
static bool missing[PAGES];
static uint32_t pages_asked;

const uint8_t *stack_page(uint64_t address)
{
    uint64_t page = (address - BASE) / PAGE_BYTES;

    assert_int_equal(address % PAGE_BYTES, 0);
    assert_true(address < USER_END);
    pages_asked++;
    return address >= BASE && page < PAGES && !missing[page] ? memory + page * PAGE_BYTES : NULL;
}

static struct {
    struct trace_slot_stack head;
    uint64_t words[HR_STACK_REGISTERS + sizeof memory / WORD_BYTES + 1];
} stack;

#define WORDS (stack.head.words)

static void put(uint64_t address, uint64_t value)
{
    memcpy(memory + (address - BASE), &value, sizeof value);
}

static void frame(uint64_t fp, uint64_t next, uint64_t return_address)
{
    put(fp, next);
    put(fp + 8, return_address);
}

static struct cpu cpu;

/* It writes nothing behind its limit. */
static void walk_once(uint32_t limit, uint64_t fp)
{
    memset(&stack, 0xee, sizeof stack);
    stack_walk(&stack.head, fp, &cpu);
    stack_walk_check(&stack.head, false);
    assert_true(stack.head.count <= limit);
    for (uint64_t i = limit; i < limit + 4ull; i++)
        assert_int_equal(WORDS[i], 0xeeeeeeeeeeeeeeeeull);
}

/* A page that is known, and a processor without BMI2, change nothing. */
static void walk(uint32_t limit, uint64_t fp)
{
    struct trace_slot_stack first;
    uint64_t words[LIMIT + 300];

    stack_walk_start(limit);
    cpu.frames.floor = CPU_NO_PAGE;
    walk_once(limit, fp);
    first = stack.head;
    memcpy(words, WORDS, limit * sizeof *words);
    for (int bmi2 = has_bmi2; bmi2 >= 0; bmi2--) {
        has_bmi2 = bmi2;
        find_top();
        walk_once(limit, fp);
        assert_memory_equal(&stack.head, &first, sizeof first);
        assert_memory_equal(WORDS, words, first.count * sizeof *words);
    }
}

static int forget(void **state)
{
    (void)state;
    memset(memory, 0, sizeof memory);
    memset(missing, 0, sizeof missing);
    memset(restorers, 0xff, sizeof restorers);
    pages_asked = 0;
    return 0;
}

/* `count` frames, `bytes` apart, from `fp` on; the last one's caller is `end`. */
static void chain(uint64_t fp, uint32_t count, uint64_t bytes, uint64_t end)
{
    for (uint32_t i = 0; i < count; i++, fp += bytes)
        frame(fp, i + 1 < count ? fp + bytes : end, 0x400000 + i);
}

static void expect(uint32_t count, uint32_t root)
{
    assert_int_equal(stack.head.root, root);
    assert_int_equal(stack.head.count, count);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(WORDS[i], 0x400000 + i);
}

static void chains_of_every_shape_are_whole(void **state)
{
    static const uint64_t distances[] = {16, 24, 48, 1000, 1016, 1024, 1032, 4096, 4104, 8192 - 8};

    (void)state;
    for (size_t d = 0; d < sizeof distances / sizeof distances[0]; d++)
        for (uint32_t count = 0; count <= 20; count++)
            for (uint64_t start = 0; start < PAGE_BYTES; start += 520) {
                forget(NULL);
                chain(BASE + start, count, distances[d], 0);
                walk(LIMIT, count ? BASE + start : 0);
                expect(count, HR_STACK_WHOLE);
            }
}

static void a_page_is_looked_up_once(void **state)
{
    (void)state;
    chain(BASE + 64, 16, 48, 0);
    walk(LIMIT, BASE + 64);
    assert_int_equal(pages_asked, 1); /* by three walks */
    cpu.frames.floor = CPU_NO_PAGE;
    walk_once(LIMIT, BASE + 64);
    assert_int_equal(pages_asked, 2);
}

static void the_limit_cuts(void **state)
{
    (void)state;
    for (uint32_t limit = 1; limit <= 300; limit++) {
        chain(BASE, 300, 32, 0);
        walk(limit, BASE);
        expect(limit, limit == 300 ? HR_STACK_WHOLE : HR_STACK_CUT);
    }
}

static void words_that_are_there_stay(void **state)
{
    (void)state;
    chain(BASE, 10, 32, 0);
    memset(&stack, 0xee, sizeof stack);
    stack_walk_start(8);
    stack_walk_behind(&stack.head, 3, BASE);
    assert_int_equal(stack.head.count, 8);
    assert_int_equal(stack.head.root, HR_STACK_CUT);
    assert_int_equal(WORDS[2], 0xeeeeeeeeeeeeeeeeull);
    assert_int_equal(WORDS[3], 0x400000);
    stack_walk_behind(&stack.head, 8, BASE);
    assert_int_equal(stack.head.count, 8);
    assert_int_equal(stack.head.root, HR_STACK_CUT);
}

/* Whatever comes after three good frames, the chain ends there and says so. */
static void what_is_no_frame_breaks(void **state)
{
    static const uint64_t bad[] = {
        1, /* not aligned */
        BASE + 4096 + 4,
        BASE + 100,
        8, /* no memory */
        BASE - 4096,
        BASE + sizeof memory,
        BASE + 40 * 4096, /* withdrawn, below */
        USER_END, /* not the program's */
        USER_END - 8,
        0x0000800000000000ull, /* not canonical */
        0x8000000000000000ull,
        DIRECT_MAP, /* the kernel's */
        KERNEL_BASE,
        UINT64_MAX,
        UINT64_MAX - 7,
        BASE, /* not above the last one */
        BASE + 32,
        BASE + 64, /* itself */
    };

    (void)state;
    missing[40] = true;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        chain(BASE, 3, 32, bad[i]);
        walk(LIMIT, BASE);
        expect(3, HR_STACK_BROKEN);
        if (bad[i] >= BASE && bad[i] < BASE + 4096 && bad[i] % 8 == 0)
            continue; /* a good one to begin with */
        walk(LIMIT, bad[i]);
        assert_int_equal(stack.head.count, 0);
        assert_int_equal(stack.head.root, HR_STACK_BROKEN);
    }
}

static void a_frame_across_pages(void **state)
{
    (void)state;
    chain(BASE + 4088, 1, 0, 0);
    walk(LIMIT, BASE + 4088);
    expect(1, HR_STACK_WHOLE);
    missing[1] = true; /* its second half */
    walk(LIMIT, BASE + 4088);
    expect(0, HR_STACK_BROKEN);
    chain(BASE, 3, 2044 * 2, 0); /* 0, 4088, 8176 */
    missing[1] = false;
    walk(LIMIT, BASE);
    expect(3, HR_STACK_WHOLE);
    frame(BASE + 4088, BASE, 0x400001); /* back: a circle */
    walk(LIMIT, BASE);
    expect(2, HR_STACK_BROKEN);
}

static void a_return_address_is_the_programs(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 10; i++) {
        chain(BASE, 10, 32, 0);
        put(BASE + i * 32 + 8, KERNEL_BASE + 5);
        walk(LIMIT, BASE);
        expect(i, HR_STACK_BROKEN);
    }
    chain(BASE + 4088, 1, 0, 0);
    put(BASE + 4096, KERNEL_BASE);
    walk(LIMIT, BASE + 4088);
    expect(0, HR_STACK_BROKEN);
    chain(BASE, 4, 32, 0);
    put(BASE + 3 * 32 + 8, 0); /* no caller */
    walk(LIMIT, BASE);
    expect(3, HR_STACK_WHOLE);
    put(BASE + 2 * 32 + 8, 0); /* no caller, and yet one that has one */
    walk(LIMIT, BASE);
    expect(2, HR_STACK_BROKEN);
    put(BASE + 2 * 32 + 8, USER_END);
    walk(LIMIT, BASE);
    expect(2, HR_STACK_BROKEN);
}

static void the_kernels_addresses_come_first(void **state)
{
    static const uint64_t words[] = {KERNEL_BASE + 1, KERNEL_BASE + 2, 0x400000, KERNEL_BASE + 3,
                                     5};

    (void)state;
    for (int kernel = 0; kernel < 2; kernel++) {
        stack.head = (struct trace_slot_stack){.count = 5, .root = HR_STACK_CUT};
        memcpy(WORDS, words, sizeof words);
        stack_walk_check(&stack.head, kernel);
        assert_int_equal(stack.head.count, kernel ? 3 : 0);
        assert_int_equal(stack.head.root, HR_STACK_BROKEN);
    }
    stack.head = (struct trace_slot_stack){.count = 3, .root = HR_STACK_CUT};
    stack_walk_check(&stack.head, true);
    assert_int_equal(stack.head.count, 3);
    assert_int_equal(stack.head.root, HR_STACK_CUT);
}

/* A handler's frame at `fp` and the signal frame behind it. */
static void signal_frame_at(uint64_t fp, uint64_t ip, uint64_t interrupted_fp)
{
    uint64_t registers = fp + 8 + offsetof(struct signal_frame, context) +
                         offsetof(struct signal_context, registers);

    frame(fp, interrupted_fp, RESTORER);
    put(registers + offsetof(struct signal_registers, rip), ip);
    put(registers + offsetof(struct signal_registers, rbp), interrupted_fp);
}

static void signal_frames_are_passed(void **state)
{
    (void)state;
    for (uint64_t at = 0; at < 2 * PAGE_BYTES; at += 8) {
        forget(NULL);
        stack_walk_add_restorer(RESTORER);
        frame(BASE + at, BASE + at + 64, 0x400000);
        signal_frame_at(BASE + at + 64, 0x400001, BASE + at + 64 + 1160);
        chain(BASE + at + 64 + 1160, 3, 32, 0);
        walk(LIMIT, BASE + at);
        assert_int_equal(stack.head.root, HR_STACK_WHOLE);
        assert_int_equal(stack.head.count, 6);
        assert_int_equal(WORDS[0], 0x400000);
        assert_int_equal(WORDS[1], RESTORER + 1);
        assert_int_equal(WORDS[2], 0x400002); /* the next instruction's, less one */
        assert_int_equal(WORDS[5], 0x400002);
    }
}

static void a_handler_may_have_a_lower_stack(void **state)
{
    (void)state;
    stack_walk_add_restorer(0x5555);
    stack_walk_add_restorer(RESTORER);
    stack_walk_add_restorer(RESTORER);
    chain(BASE + 64, 2, 32, 0);
    signal_frame_at(BASE + 0x5000, 0x400001, BASE + 64);
    walk(LIMIT, BASE + 0x5000);
    assert_int_equal(stack.head.root, HR_STACK_WHOLE);
    assert_int_equal(stack.head.count, 4);
    assert_int_equal(WORDS[0], RESTORER + 1);
    assert_int_equal(WORDS[1], 0x400002);
    assert_int_equal(WORDS[2], 0x400000);
    assert_int_equal(WORDS[3], 0x400001);
}

static void signal_frames_in_a_circle_end(void **state)
{
    (void)state;
    stack_walk_add_restorer(RESTORER);
    signal_frame_at(BASE + 0x5000, 0x400001, BASE + 0x5000);
    for (uint32_t limit = 1; limit < 200; limit++) {
        walk(limit, BASE + 0x5000);
        assert_int_equal(stack.head.count, limit);
        assert_int_equal(stack.head.root, HR_STACK_CUT);
    }
}

static void random_memory_ends(void **state)
{
    (void)state;
    srand(1);
    for (uint32_t round = 0; round < 20000; round++) {
        if (round == 10000)
            stack_walk_add_restorer(RESTORER);
        for (uint32_t i = 0; i < 64; i++) {
            uint64_t at = BASE + (uint64_t)(rand() % 512) * 8;
            uint64_t value = BASE + (uint64_t)(rand() % 1024) * (rand() % 16 ? 8 : 1);

            put(at, rand() % 8 ? value : rand() % 2 ? RESTORER : (uint64_t)rand() << 33);
        }
        missing[1] = rand() % 2;
        walk(1 + (uint32_t)rand() % LIMIT, BASE + (uint64_t)(rand() % 512) * 8);
    }
}

static void copies(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < sizeof memory; i += 8)
        put(BASE + i, i);
    for (uint32_t limit = 8; limit <= 3 * PAGE_BYTES; limit += 136)
        for (uint64_t at = 0; at < PAGE_BYTES; at += 808) {
            memset(&stack, 0xee, sizeof stack);
            stack_walk_copy(&stack.head, limit, BASE + at);
            assert_int_equal(stack.head.count, limit);
            assert_int_equal(stack.head.root, HR_STACK_WHOLE);
            for (uint64_t i = 0; i < limit / 8; i++)
                assert_int_equal(WORDS[HR_STACK_REGISTERS + i], at + 8 * i);
            assert_int_equal(WORDS[HR_STACK_REGISTERS + limit / 8], 0xeeeeeeeeeeeeeeeeull);
            assert_int_equal(WORDS[HR_STACK_REGISTERS - 1], 0xeeeeeeeeeeeeeeeeull);
        }
}

static void copies_end_where_memory_does(void **state)
{
    (void)state;
    missing[2] = true;
    stack_walk_copy(&stack.head, 8192, BASE + PAGE_BYTES + 4000);
    assert_int_equal(stack.head.count, 96);
    stack_walk_copy(&stack.head, 8192, BASE + 2 * PAGE_BYTES);
    assert_int_equal(stack.head.count, 0);
    assert_int_equal(stack.head.root, HR_STACK_BROKEN);
    stack_walk_copy(&stack.head, 8192, BASE + sizeof memory - 16);
    assert_int_equal(stack.head.count, 16);
    stack_walk_copy(&stack.head, 8192, BASE + 4); /* not aligned */
    assert_int_equal(stack.head.count, 0);
    stack_walk_copy(&stack.head, 8192, UINT64_MAX - 7);
    assert_int_equal(stack.head.count, 0);
    stack_walk_copy(&stack.head, 8192, KERNEL_BASE);
    assert_int_equal(stack.head.root, HR_STACK_BROKEN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(chains_of_every_shape_are_whole, forget),
        cmocka_unit_test_setup(a_page_is_looked_up_once, forget),
        cmocka_unit_test_setup(the_limit_cuts, forget),
        cmocka_unit_test_setup(words_that_are_there_stay, forget),
        cmocka_unit_test_setup(what_is_no_frame_breaks, forget),
        cmocka_unit_test_setup(a_frame_across_pages, forget),
        cmocka_unit_test_setup(a_return_address_is_the_programs, forget),
        cmocka_unit_test_setup(the_kernels_addresses_come_first, forget),
        cmocka_unit_test_setup(signal_frames_are_passed, forget),
        cmocka_unit_test_setup(a_handler_may_have_a_lower_stack, forget),
        cmocka_unit_test_setup(signal_frames_in_a_circle_end, forget),
        cmocka_unit_test_setup(random_memory_ends, forget),
        cmocka_unit_test_setup(copies, forget),
        cmocka_unit_test_setup(copies_end_where_memory_does, forget),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
