/* host/trace/trace_jit*.c: perf maps and jitdumps, whole, overlapping, damaged. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/trace/trace_jit.h"
#include "tests/unit/test.h"

static struct trace_jit jit;
static struct trace_jit_file files[2];
static uint8_t dump[4096];
static size_t dump_bytes;

static int forget(void **state)
{
    (void)state;
    trace_jit_free(&jit);
    for (size_t i = 0; i < 2; i++) {
        free(files[i].bytes);
        files[i] = (struct trace_jit_file){0};
    }
    dump_bytes = 0;
    return 0;
}

static void add(size_t i, uint32_t kind, const void *bytes, size_t count)
{
    files[i].meta.kind = kind;
    files[i].bytes = calloc(count + 1, 1);
    memcpy(files[i].bytes, bytes, count);
    files[i].count = count;
    assert_int_equal(trace_jit_add(&jit, &files[i]), 0);
}

static void add_map(const char *text)
{
    add(0, HR_JIT_PERF_MAP, text, strlen(text));
    assert_int_equal(trace_jit_finish(&jit), 0);
}

static void expect(uint64_t address, const char *name)
{
    const struct trace_jit_code *code = trace_jit_find(&jit, address);

    if (name == NULL) {
        assert_null(code);
        return;
    }
    assert_non_null(code);
    assert_string_equal(code->name, name);
    assert_true(code->start <= address && address < code->end);
}

static void maps_have_names_with_spaces(void **state)
{
    (void)state;
    add_map("1000 20 first\n0x1020 0x10 second one [x]\nffff800000000000 1 high\n");
    expect(0xfff, NULL);
    expect(0x1000, "first");
    expect(0x101f, "first");
    expect(0x1020, "second one [x]");
    expect(0x102f, "second one [x]");
    expect(0x1030, NULL);
    expect(0xffff800000000000, "high");
    assert_int_equal(jit.refused, 0);
}

static void the_later_line_counts(void **state)
{
    (void)state;
    add_map("1000 100 whole\n1010 10 inner\n1000 100 anew\n1080 100 end\n1040 8 hole\n");
    expect(0x1000, "anew");
    expect(0x1010, "anew");
    expect(0x1040, "hole");
    expect(0x1048, "anew");
    expect(0x107f, "anew");
    expect(0x1080, "end");
    expect(0x117f, "end");
    expect(0x1180, NULL);
}

static void what_is_no_line_is_counted(void **state)
{
    (void)state;
    add_map(
        "1000 10 good\n\nzz 10 bad\n1000 bad\n1000 10\n1000 0 nothing\nfffffffffffffff0 20 round\n"
        "2000 10 also good\n3000 10 cut of");
    expect(0x1000, "good");
    expect(0x2000, "also good");
    expect(0x3000, NULL);
    assert_int_equal(jit.refused, 6);
}

static void put(const void *bytes, size_t count)
{
    memcpy(dump + dump_bytes, bytes, count);
    dump_bytes += count;
}

static void put_words(uint64_t value, size_t bytes)
{
    put(&value, bytes);
}

static void put_header(void)
{
    put_words(0x4a695444, 4);
    put_words(1, 4);
    put_words(40, 4);
    dump_bytes += 28;
}

static void put_record(uint32_t type, size_t bytes, uint64_t time)
{
    put_words(type, 4);
    put_words(16 + bytes, 4);
    put_words(time, 8);
}

static void put_load(uint64_t address, uint64_t bytes, const char *name, uint64_t time)
{
    put_record(0, 40 + strlen(name) + 1, time);
    dump_bytes += 16;
    put_words(address, 8);
    put_words(bytes, 8);
    dump_bytes += 8;
    put(name, strlen(name) + 1);
}

static void put_move(uint64_t from, uint64_t to, uint64_t bytes, uint64_t time)
{
    put_record(1, 48, time);
    dump_bytes += 16;
    put_words(from, 8);
    put_words(to, 8);
    put_words(bytes, 8);
    dump_bytes += 8;
}

static void put_line(uint64_t address, uint32_t line, const char *file)
{
    put_words(address, 8);
    put_words(line, 8);
    put(file, strlen(file) + 1);
}

static void finish_dump(void)
{
    add(0, HR_JIT_DUMP, dump, dump_bytes);
    assert_int_equal(trace_jit_finish(&jit), 0);
}

static void expect_line(uint64_t address, const char *file, uint32_t line)
{
    const struct trace_jit_line *found =
        trace_jit_line(&jit, trace_jit_find(&jit, address), address);

    if (file == NULL) {
        assert_null(found);
        return;
    }
    assert_non_null(found);
    assert_string_equal(found->file, file);
    assert_int_equal(found->line, line);
}

static void dumps_have_lines(void **state)
{
    memset(dump, 0, sizeof dump);
    (void)state;
    put_header();
    put_record(2, 16 + 3 * 16 + 4 + 2 + 2, 1);
    put_words(0x1000, 8);
    put_words(3, 8);
    put_line(0x1008, 6, "a.b");
    put_line(0x1004, 5, "\xff"); /* not in the order of addresses */
    put_line(0x1010, 9, "c");
    put_load(0x1000, 0x20, "with lines", 2);
    put_load(0x2000, 0x20, "without", 3);
    finish_dump();
    expect_line(0x1000, NULL, 0);
    expect_line(0x1004, "a.b", 5);
    expect_line(0x100f, "a.b", 6);
    expect_line(0x101f, "c", 9);
    expect_line(0x2000, NULL, 0);
    assert_int_equal(jit.refused, 0);
}

static void the_later_time_counts(void **state)
{
    memset(dump, 0, sizeof dump);
    (void)state;
    put_header();
    put_load(0x1000, 0x20, "late", 9);
    put_load(0x1010, 0x20, "early", 3);
    finish_dump();
    expect(0x101f, "late");
    expect(0x1020, "early");
}

static void expect_at(uint64_t address, uint64_t time, const char *name)
{
    const struct trace_jit_code *code = trace_jit_find(&jit, trace_jit_place(&jit, address, time));

    assert_non_null(code);
    assert_string_equal(code->name, name);
    assert_true(code->start <= address && address < code->end);
}

static void code_is_what_it_was_at_the_time(void **state)
{
    memset(dump, 0, sizeof dump);
    (void)state;
    put_header();
    put_load(0x1000, 0x20, "first", 10);
    put_load(0x1010, 0x40, "second", 20);
    put_load(0x1000, 0x10, "third", 30);
    put_load(0x9000, 0x10, "alone", 40);
    finish_dump();
    expect_at(0x1000, 9, "third"); /* before there was any code */
    expect_at(0x1000, 10, "first");
    expect_at(0x1018, 15, "first");
    expect_at(0x1018, 20, "second");
    expect_at(0x1048, 25, "second");
    expect_at(0x100f, 29, "first");
    expect_at(0x100f, 30, "third");
    expect_at(0x1018, 99, "second");
    assert_int_equal(trace_jit_place(&jit, 0x9008, 99), 0x9008);
    assert_int_equal(trace_jit_place(&jit, 0x1050, 99), 0x1050);
    expect(TRACE_JIT_PLACES_END - 1, NULL);
}

static void code_moves(void **state)
{
    memset(dump, 0, sizeof dump);
    (void)state;
    put_header();
    put_load(0x1000, 0x20, "moves", 1);
    put_move(0x1000, 0x3000, 0x20, 2);
    put_move(0x3000, 0x4000, 0x20, 3);
    put_move(0x7777, 0x5000, 0x20, 4); /* nothing was there */
    put_load(0x1000, 0x10, "next", 5);
    finish_dump();
    expect(0x1000, "next");
    expect(0x3000, "moves");
    expect(0x401f, "moves");
    expect(0x5000, NULL);
    assert_int_equal(jit.refused, 1);
}

static void dumps_are_read_up_to_what_is_wrong(void **state)
{
    (void)state;
    for (size_t cut = 0; cut < 160; cut++) {
        forget(NULL);
        memset(dump, 0, sizeof dump);
        put_header();
        put_load(0x1000, 0x20, "first", 1);
        put_load(0x2000, 0x20, "second", 2);
        if (dump_bytes <= cut)
            break;
        dump_bytes = cut;
        finish_dump();
        expect(0x1000, cut >= 102 ? "first" : NULL);
        expect(0x2000, NULL);
        assert_int_equal(jit.refused, cut != 40 && cut != 102);
    }
}

static void ranges_are_those_of_a_slow_search(void **state)
{
    struct test_random random = {3};
    char text[64 * 40];

    (void)state;
    for (uint32_t round = 0; round < 200; round++) {
        struct {
            uint64_t start, bytes;
        } all[64];
        size_t used = 0;

        forget(NULL);
        for (uint32_t i = 0; i < 64; i++) {
            all[i].start = 0x1000 + test_random_below(&random, 64);
            all[i].bytes = 1 + test_random_below(&random, 32);
            used += (size_t)snprintf(text + used, sizeof text - used, "%lx %lx n%u\n", all[i].start,
                                     all[i].bytes, i);
        }
        add_map(text);
        for (uint64_t at = 0xff0; at < 0x1080; at++) {
            char name[8] = "";

            for (uint32_t i = 0; i < 64; i++)
                if (at - all[i].start < all[i].bytes)
                    snprintf(name, sizeof name, "n%u", i);
            expect(at, name[0] != 0 ? name : NULL);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(maps_have_names_with_spaces, forget),
        cmocka_unit_test_teardown(the_later_line_counts, forget),
        cmocka_unit_test_teardown(what_is_no_line_is_counted, forget),
        cmocka_unit_test_teardown(dumps_have_lines, forget),
        cmocka_unit_test_teardown(the_later_time_counts, forget),
        cmocka_unit_test_teardown(code_is_what_it_was_at_the_time, forget),
        cmocka_unit_test_teardown(code_moves, forget),
        cmocka_unit_test_teardown(dumps_are_read_up_to_what_is_wrong, forget),
        cmocka_unit_test_teardown(ranges_are_those_of_a_slow_search, forget),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
