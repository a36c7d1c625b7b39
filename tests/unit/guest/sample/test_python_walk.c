/* guest/sample/python_walk.c: frames of CPython 3.11 in a fake memory, well-formed and hostile. */
#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>

#include "guest/sample/python_walk.c"
#include "lib/program/python_layout_versions.h"

#define BASE 0x7ff000000000ull /* where the fake memory is */
#define PAGES_ALL 64u
#define LIMIT 16u
#define TID 1000u
#define TYPE (BASE + 0x100) /* of code objects */
#define RUNTIME (BASE + 0x1000)
#define INTERPRETER (BASE + 0x2000)
#define THREAD (BASE + 0x3000)
#define HOLDER (BASE + 0x4000)
#define FRAMES (BASE + 0x5000)
#define CODES (BASE + 0x10000)
#define TEXTS (BASE + 0x20000)

static const struct python_layout layout = PYTHON_LAYOUT_3_11;
static const struct python_where where = {RUNTIME, TYPE, 0};

static uint8_t memory[PAGES_ALL * PAGE_BYTES] __attribute__((aligned(4096)));
static bool missing[PAGES_ALL];
static struct python_codes codes;
static struct {
    struct trace_slot_stack head;
    uint64_t words[LIMIT + 4];
} stack;

const uint8_t *stack_page(uint64_t address)
{
    uint64_t page = (address - BASE) / PAGE_BYTES;

    assert_int_equal(address % PAGE_BYTES, 0);
    assert_true(address < USER_END);
    return address >= BASE && page < PAGES_ALL && !missing[page] ? memory + page * PAGE_BYTES
                                                                 : NULL;
}

static void put(uint64_t address, uint64_t value)
{
    memcpy(memory + (address - BASE), &value, sizeof value);
}

static void put_text(uint64_t at, const char *text, uint8_t kind, bool ascii)
{
    size_t length = strlen(text);

    put(at + 16, length);
    put(at + 24, 0x1234567 + length + (uint8_t)text[0]);
    put(at + 32, kind << 2 | 1u << 5 | (ascii ? 1u << 6 : 0));
    for (size_t i = 0; i < length; i++)
        memcpy(memory + (at - BASE) + (ascii ? 48 : 72) + i * kind, text + i, 1);
}

/* Code object `n`, with its name and a table of lines. */
static uint64_t put_code(uint32_t n, const char *name)
{
    uint64_t code = CODES + n * 0x400ull, texts = TEXTS + n * 0x400ull;

    put(code + 8, TYPE);
    put(code + 16, 10); /* instructions */
    put(code + 72, 7 + n);
    put(code + 112, texts + 0x100);
    put(code + 128, texts);
    put(code + 136, texts + 0x200);
    put_text(texts, name, 1, true);
    put_text(texts + 0x100, "work.py", 1, true);
    put(texts + 0x200 + 16, 4);
    put(texts + 0x200 + 32, 0x00e900e9 + n);
    return code;
}

static void put_frame(uint32_t n, uint64_t code, uint64_t offset, bool last)
{
    uint64_t frame = FRAMES + n * 0x100ull;

    put(frame + 32, code);
    put(frame + 48, last ? 0 : frame + 0x100);
    put(frame + 56, code + 184 + offset);
}

static int forget(void **state)
{
    (void)state;
    memset(memory, 0, sizeof memory);
    memset(missing, 0, sizeof missing);
    memset(&codes, 0, sizeof codes);
    codes.next = HR_PYTHON_BASE + 16;
    put(RUNTIME + 40, INTERPRETER);
    put(INTERPRETER + 16, THREAD);
    put(THREAD + 160, TID);
    put(THREAD + 56, HOLDER);
    put(HOLDER + 8, FRAMES);
    return 0;
}

static void walk(uint32_t limit)
{
    memset(&stack, 0xee, sizeof stack);
    python_walk(&codes, &stack.head, limit, &layout, &where, TID);
    assert_true(stack.head.count <= limit);
    for (uint32_t i = limit; i < LIMIT + 4; i++)
        assert_int_equal(stack.head.words[i], 0xeeeeeeeeeeeeeeeeull);
}

/* The next record's name and file are these; it is taken. */
static struct hr_meta_python_code expect_code(const char *name, const char *file)
{
    struct hr_meta_python_code record;
    uint32_t bytes;
    const uint8_t *body = python_walk_next(&codes, &bytes);

    assert_non_null(body);
    memcpy(&record, body, sizeof record);
    assert_int_equal(bytes,
                     sizeof record + record.name_bytes + record.file_bytes + record.line_bytes);
    assert_int_equal(record.name_bytes, strlen(name));
    assert_memory_equal(body + sizeof record, name, strlen(name));
    assert_int_equal(record.file_bytes, strlen(file));
    assert_memory_equal(body + sizeof record + record.name_bytes, file, strlen(file));
    python_walk_taken(&codes);
    return record;
}

static void expect_no_code(void)
{
    uint32_t bytes;

    assert_null(python_walk_next(&codes, &bytes));
}

static void frames_become_places(void **state)
{
    struct hr_meta_python_code inner, outer;

    (void)state;
    put_frame(0, put_code(0, "Worker.cool"), 6, false);
    put_frame(1, put_code(1, "main"), 0, true);
    walk(LIMIT);
    inner = expect_code("Worker.cool", "work.py");
    outer = expect_code("main", "work.py");
    expect_no_code();
    assert_int_equal(inner.code_bytes, 20);
    assert_int_equal(inner.first_line, 7);
    assert_int_equal(inner.line_bytes, 4);
    assert_int_equal(inner.address, CODES);
    assert_true(outer.start >= inner.start + inner.code_bytes);
    assert_int_equal(stack.head.count, 2);
    assert_int_equal(stack.head.root, HR_STACK_WHOLE);
    assert_int_equal(stack.head.words[0], inner.start + 6 + 1);
    assert_int_equal(stack.head.words[1], outer.start + 1);
    walk(LIMIT); /* known code objects are not sent again */
    expect_no_code();
    assert_int_equal(stack.head.words[0], inner.start + 6 + 1);
}

static void a_frame_that_has_done_nothing_is_at_its_start(void **state)
{
    (void)state;
    put_frame(0, put_code(0, "f"), (uint64_t)-2, true);
    walk(LIMIT);
    assert_int_equal(stack.head.words[0], HR_PYTHON_BASE + 16 + 1);
}

static void another_object_at_the_address_gets_another_number(void **state)
{
    uint64_t first;

    (void)state;
    put_frame(0, put_code(0, "first"), 2, true);
    walk(LIMIT);
    first = stack.head.words[0];
    expect_code("first", "work.py");
    put_code(0, "other"); /* only the name's hash and characters differ */
    walk(LIMIT);
    expect_code("other", "work.py");
    assert_int_not_equal(stack.head.words[0], first);
    put(TEXTS + 0x200 + 32, 0x12345678); /* only the table of lines */
    walk(LIMIT);
    expect_code("other", "work.py");
}

static void other_threads_and_interpreters_are_passed(void **state)
{
    (void)state;
    put_frame(0, put_code(0, "f"), 2, true);
    put(THREAD + 160, 7);
    walk(LIMIT);
    assert_int_equal(stack.head.root, HR_STACK_NONE);
    assert_int_equal(stack.head.count, 0);
    put(INTERPRETER, BASE + 0x8000); /* another interpreter, whose second thread is this one */
    put(BASE + 0x8000 + 16, BASE + 0x9000);
    put(BASE + 0x9000 + 8, BASE + 0xa000);
    put(BASE + 0xa000 + 160, TID);
    put(BASE + 0xa000 + 56, HOLDER);
    walk(LIMIT);
    assert_int_equal(stack.head.root, HR_STACK_WHOLE);
    assert_int_equal(stack.head.count, 1);
}

static void rings_end(void **state)
{
    (void)state;
    put_frame(0, put_code(0, "f"), 2, false);
    put(FRAMES + 48, FRAMES); /* it calls itself for ever */
    walk(3);
    assert_int_equal(stack.head.root, HR_STACK_CUT);
    assert_int_equal(stack.head.count, 3);
    put(FRAMES + 64, 3ull << 40); /* owner: C code, which is no frame */
    walk(3);
    assert_int_equal(stack.head.root, HR_STACK_CUT);
    assert_int_equal(stack.head.count, 0);
    put(THREAD + 160, 7);
    put(THREAD + 8, THREAD);
    put(INTERPRETER, INTERPRETER);
    walk(3);
    assert_int_equal(stack.head.root, HR_STACK_NONE);
}

static void what_is_no_code_object_breaks_the_stack(void **state)
{
    (void)state;
    put_frame(0, put_code(0, "f"), 2, false);
    put_frame(1, put_code(1, "g"), 2, true);
    put(CODES + 0x400 + 8, TYPE + 8);
    walk(LIMIT);
    assert_int_equal(stack.head.root, HR_STACK_BROKEN);
    assert_int_equal(stack.head.count, 1);
    put(FRAMES + 48, UINT64_MAX - 20); /* the next frame is nowhere */
    walk(LIMIT);
    assert_int_equal(stack.head.root, HR_STACK_BROKEN);
    put(CODES + 16, UINT64_MAX / 2); /* larger than memory */
    walk(LIMIT);
    assert_int_equal(stack.head.root, HR_STACK_BROKEN);
    assert_int_equal(stack.head.count, 0);
}

static void missing_pages_are_survived(void **state)
{
    (void)state;
    for (uint32_t page = 0; page < PAGES_ALL; page++) {
        forget(NULL);
        put_frame(0, put_code(0, "f"), 2, true);
        missing[page] = true;
        walk(LIMIT);
        assert_true(stack.head.root == HR_STACK_NONE || stack.head.root == HR_STACK_BROKEN ||
                    stack.head.root == HR_STACK_WHOLE);
    }
}

static void texts_are_cut_and_copied_as_they_are(void **state)
{
    struct hr_meta_python_code record;
    uint32_t bytes;

    (void)state;
    put_frame(0, put_code(0, "f"), 2, true);
    put_text(TEXTS, "wide", 4, false);
    put(TEXTS + 0x100 + 16, 1ull << 60); /* a length that no text has */
    walk(LIMIT);
    memcpy(&record, python_walk_next(&codes, &bytes), sizeof record);
    assert_int_equal(record.name_bytes, 16);
    assert_int_equal(record.name_unit, 4);
    assert_int_equal(record.file_bytes, PYTHON_NAME_BYTES);
    python_walk_taken(&codes);
    put_text(TEXTS, "odd", 3, false); /* no kind of text */
    walk(LIMIT);
    memcpy(&record, python_walk_next(&codes, &bytes), sizeof record);
    assert_int_equal(record.name_bytes, 0);
    assert_int_equal(record.name_unit, 1);
}

/* The queue wraps many times, and no record is lost or mixed up while it has room. */
static void the_queue_goes_round(void **state)
{
    (void)state;
    put_frame(0, put_code(0, "f"), 2, true);
    put(TEXTS + 0x200 + 16, PYTHON_LINES_BYTES + 1);
    for (uint32_t i = 0; i < 300; i++) {
        uint64_t start = codes.next;

        put(CODES + 72, i); /* another first line: another object */
        walk(LIMIT);
        assert_int_equal(stack.head.words[0], start + 2 + 1);
        assert_int_equal(expect_code("f", "work.py").first_line, i);
    }
}

static void a_full_queue_gives_unknown_places(void **state)
{
    uint32_t known = 0, taken = 0, bytes;

    (void)state;
    put_frame(0, put_code(0, "f"), 2, true);
    put(TEXTS + 0x200 + 16, PYTHON_LINES_BYTES);
    for (uint32_t i = 0; i < 100; i++) {
        put(CODES + 72, i);
        walk(LIMIT);
        known += stack.head.words[0] != HR_PYTHON_UNKNOWN + 1;
    }
    assert_in_range(known, 40, 60);
    for (; python_walk_next(&codes, &bytes) != NULL; taken++)
        python_walk_taken(&codes);
    assert_int_equal(taken, known);
    walk(LIMIT); /* there is room again */
    assert_int_not_equal(stack.head.words[0], HR_PYTHON_UNKNOWN + 1);
}

/* Words of the fake memory at random places are exchanged for others: nothing outside is touched.
 */
static void random_memory_is_survived(void **state)
{
    struct test_random random = {7};
    uint32_t bytes;

    (void)state;
    for (uint32_t round = 0; round < 20000; round++) {
        forget(NULL);
        put_frame(0, put_code(0, "f"), 2, false);
        put_frame(1, put_code(1, "g"), 4, true);
        for (uint32_t i = 0; i < 3; i++) {
            static const uint64_t bases[] = {RUNTIME, INTERPRETER, THREAD, HOLDER,
                                             FRAMES,  CODES,       TEXTS};
            uint64_t at =
                bases[test_random_below(&random, 7)] + test_random_below(&random, 0x40) * 8;

            put(at, test_random_below(&random, 2)
                        ? test_random_next(&random)
                        : BASE + test_random_below(&random, sizeof memory));
        }
        walk(LIMIT);
        while (python_walk_next(&codes, &bytes) != NULL) {
            assert_true(bytes <= PYTHON_RECORD_BYTES);
            python_walk_taken(&codes);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(frames_become_places, forget),
        cmocka_unit_test_setup(a_frame_that_has_done_nothing_is_at_its_start, forget),
        cmocka_unit_test_setup(another_object_at_the_address_gets_another_number, forget),
        cmocka_unit_test_setup(other_threads_and_interpreters_are_passed, forget),
        cmocka_unit_test_setup(rings_end, forget),
        cmocka_unit_test_setup(what_is_no_code_object_breaks_the_stack, forget),
        cmocka_unit_test_setup(missing_pages_are_survived, forget),
        cmocka_unit_test_setup(texts_are_cut_and_copied_as_they_are, forget),
        cmocka_unit_test_setup(the_queue_goes_round, forget),
        cmocka_unit_test_setup(a_full_queue_gives_unknown_places, forget),
        cmocka_unit_test_setup(random_memory_is_survived, forget),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
