/* Tests of host/probe/probe_code.c: functions of every flow, assembled by hand. */
#include "host/probe/probe_code.h"

#include <errno.h>
#include <string.h>

#include "tests/unit/test.h"

#define BASE 0x1000u
#define COLD 0x2000u /* where a part of the function is */

static const uint8_t *code_bytes, *cold_bytes;
static size_t code_count, cold_count;

static const uint8_t *get_code(void *context, uint64_t address, uint64_t *bytes)
{
    (void)context;
    if (address >= BASE && address - BASE < code_count) {
        *bytes = code_count - (address - BASE);
        return code_bytes + (address - BASE);
    }
    if (address >= COLD && address - COLD < cold_count) {
        *bytes = cold_count - (address - COLD);
        return cold_bytes + (address - COLD);
    }
    return NULL;
}

static bool get_part(void *context, uint64_t start, uint64_t target, struct probe_range *part)
{
    (void)context;
    assert_int_equal(start, BASE);
    *part = (struct probe_range){COLD, COLD + cold_count};
    return target >= COLD && target - COLD < cold_count;
}

static const struct probe_code_source source = {get_code, get_part, NULL};
static struct probe_code code;

static int set_up(void **state)
{
    (void)state;
    cold_count = 0;
    return probe_code_open(&code, &source);
}

static int tear_down(void **state)
{
    (void)state;
    probe_code_close(&code);
    return 0;
}

static int read_bytes(const uint8_t *bytes, size_t count, bool open_end)
{
    code_bytes = bytes;
    code_count = count;
    return probe_code_function(&code, (struct probe_range){BASE, BASE + count}, open_end);
}

#define READ(...) \
    read_bytes((const uint8_t[]){__VA_ARGS__}, sizeof((uint8_t[]){__VA_ARGS__}), false)

static const struct run_probe_point *point(size_t i, uint64_t address, uint8_t kind, uint8_t flow)
{
    assert_true(i < code.count);
    assert_int_equal(code.points[i].address, address);
    assert_int_equal(code.points[i].point.kind, kind);
    assert_int_equal(code.points[i].point.flow, flow);
    return &code.points[i].point;
}

enum { E = RUN_PROBE_ENTRY, R = RUN_PROBE_RETURN };

static void returns(void **state)
{
    const struct run_probe_point *p;

    (void)state;
    /* push rbp; ret; ret 8; rep ret; bnd ret */
    assert_int_equal(READ(0x55, 0xc3, 0xc2, 8, 0, 0xf3, 0xc3, 0xf2, 0xc3), 0);
    assert_int_equal(code.count, 5);
    p = point(0, BASE, E, RUN_PROBE_COPY);
    assert_int_equal(p->bytes, 1);
    assert_int_equal(p->code[0], 0x55);
    assert_int_equal(p->base, RUN_PROBE_NO_REGISTER);
    point(1, BASE + 1, R, RUN_PROBE_COPY_AWAY);
    assert_int_equal(point(2, BASE + 2, R, RUN_PROBE_COPY_AWAY)->bytes, 3);
    assert_int_equal(point(3, BASE + 5, R, RUN_PROBE_COPY_AWAY)->bytes, 2);
    point(4, BASE + 7, R, RUN_PROBE_COPY_AWAY);
    assert_int_equal(READ(0xc3), 0);
    point(0, BASE, E | R, RUN_PROBE_COPY_AWAY);
    assert_int_equal(code.count, 1);
}

static void jumps(void **state)
{
    const struct run_probe_point *p;

    (void)state;
    /* je inside; jg outside; jmp inside; jmp before it; jmp outside */
    assert_int_equal(READ(0x74, 4, 0x7f, 0x70, 0xeb, 0, 0xe9, 0xf4, 0xff, 0xff, 0xff, 0xeb, 0x10),
                     0);
    assert_int_equal(code.count, 4);
    point(0, BASE, E, RUN_PROBE_JUMP_IF);
    assert_int_equal(code.points[0].point.condition, 4);
    assert_int_equal(code.points[0].point.target, 6);
    p = point(1, BASE + 2, R, RUN_PROBE_JUMP_IF);
    assert_int_equal(p->condition, 15);
    assert_int_equal(p->target, 0x72);
    assert_int_equal(p->inside_start, -2); /* not taken, it stays */
    assert_int_equal(p->inside_end, 11);
    p = point(2, BASE + 6, R, RUN_PROBE_JUMP);
    assert_int_equal(p->target, -7);
    point(3, BASE + 11, R, RUN_PROBE_JUMP);
}

static void long_conditions_and_counts(void **state)
{
    const struct run_probe_point *p;

    (void)state;
    /* jb far away; loop; loope; loopne; jrcxz, all outside; ret */
    assert_int_equal(
        READ(0x0f, 0x82, 0, 1, 0, 0, 0xe2, 0x70, 0xe1, 0x70, 0xe0, 0x70, 0xe3, 0x70, 0xc3), 0);
    assert_int_equal(code.count, 6);
    p = point(0, BASE, E | R, RUN_PROBE_JUMP_IF);
    assert_int_equal(p->condition, 2);
    assert_int_equal(p->target, 0x106);
    for (size_t i = 1; i < 5; i++) {
        static const uint8_t opcodes[] = {0xe2, 0xe1, 0xe0, 0xe3};

        p = point(i, BASE + 4 + 2 * i, R, RUN_PROBE_JUMP_COUNT);
        assert_int_equal(p->condition, opcodes[i - 1]);
        assert_int_equal(p->target, 0x72);
    }
    assert_int_equal(READ(0x67, 0xe3, 0x70, 0xc3), -ENOEXEC); /* jecxz */
    assert_non_null(strstr(code.reason, "32 bits"));
}

static void indirect_jumps(void **state)
{
    const struct run_probe_point *p;

    (void)state;
    /* notrack jmp rax; jmp r11; jmp [rip+16]; jmp fs:[rbx+r12*8-4]; jmp [rax*4+0x100]; jmp [r13+1]
     */
    assert_int_equal(READ(0x3e, 0xff, 0xe0, 0x41, 0xff, 0xe3, 0xff, 0x25, 16, 0, 0, 0, 0x64, 0x42,
                          0xff, 0x64, 0xe3, 0xfc, 0xff, 0x24, 0x85, 0, 1, 0, 0, 0x41, 0xff, 0x65,
                          1),
                     0);
    assert_int_equal(code.count, 6);
    p = point(0, BASE, E | R, RUN_PROBE_JUMP_REGISTER);
    assert_int_equal(p->base, 0);
    assert_int_equal(p->inside_start, 0);
    assert_int_equal(p->inside_end, 29);
    p = point(1, BASE + 3, R, RUN_PROBE_JUMP_REGISTER);
    assert_int_equal(p->base, 11);
    assert_int_equal(p->inside_start, -3);
    assert_int_equal(p->inside_end, 26);
    p = point(2, BASE + 6, R, RUN_PROBE_JUMP_MEMORY);
    assert_int_equal(p->base, RUN_PROBE_RIP);
    assert_int_equal(p->index, RUN_PROBE_NO_REGISTER);
    assert_int_equal(p->displacement, 16);
    p = point(3, BASE + 12, R, RUN_PROBE_JUMP_MEMORY);
    assert_int_equal(p->base, 3);
    assert_int_equal(p->index, 12);
    assert_int_equal(p->scale, 8);
    assert_int_equal(p->displacement, -4);
    assert_int_equal(p->segment, 1);
    p = point(4, BASE + 18, R, RUN_PROBE_JUMP_MEMORY);
    assert_int_equal(p->base, RUN_PROBE_NO_REGISTER);
    assert_int_equal(p->index, 0);
    assert_int_equal(p->scale, 4);
    assert_int_equal(p->displacement, 0x100);
    p = point(5, BASE + 25, R, RUN_PROBE_JUMP_MEMORY);
    assert_int_equal(p->base, 13);
    assert_int_equal(p->displacement, 1);
}

static void entries_that_call(void **state)
{
    const struct run_probe_point *p;

    (void)state;
    assert_int_equal(READ(0xe8, 0, 1, 0, 0, 0xc3), 0);
    assert_int_equal(point(0, BASE, E, RUN_PROBE_CALL)->target, 0x105);
    assert_int_equal(code.count, 2);
    assert_int_equal(READ(0x41, 0xff, 0xd4, 0xc3), 0); /* call r12 */
    assert_int_equal(point(0, BASE, E, RUN_PROBE_CALL_REGISTER)->base, 12);
    assert_int_equal(READ(0xff, 0x54, 0x24, 8, 0xc3), 0); /* call [rsp+8] */
    p = point(0, BASE, E, RUN_PROBE_CALL_MEMORY);
    assert_int_equal(p->base, 4);
    assert_int_equal(p->index, RUN_PROBE_NO_REGISTER);
    assert_int_equal(p->displacement, 8);
}

static void operands_relative_to_rip(void **state)
{
    const struct run_probe_point *p;

    (void)state;
    /* mov rax, [rip+5]; cmp dword [rip+1], 7; vaddps ymm0, ymm1, [rip+2]; vpaddd of AVX-512 */
    assert_int_equal(READ(0x48, 0x8b, 0x05, 5, 0, 0, 0, 0xc3), 0);
    p = point(0, BASE, E, RUN_PROBE_COPY_RELATIVE);
    assert_int_equal(p->displacement_at, 3);
    assert_int_equal(p->displacement, 5);
    assert_int_equal(p->base, RUN_PROBE_RIP);
    assert_int_equal(READ(0x83, 0x3d, 1, 0, 0, 0, 7, 0xc3), 0);
    assert_int_equal(point(0, BASE, E, RUN_PROBE_COPY_RELATIVE)->displacement_at, 2);
    assert_int_equal(READ(0xc5, 0xf4, 0x58, 0x05, 2, 0, 0, 0, 0xc3), 0);
    assert_int_equal(point(0, BASE, E, RUN_PROBE_COPY_RELATIVE)->displacement_at, 4);
    assert_int_equal(READ(0x62, 0xf1, 0x7d, 0x48, 0xfe, 0x05, 2, 0, 0, 0, 0xc3), 0);
    assert_int_equal(point(0, BASE, E, RUN_PROBE_COPY_RELATIVE)->displacement_at, 6);
    assert_int_equal(READ(0x67, 0x8b, 0x05, 5, 0, 0, 0, 0xc3), -ENOEXEC); /* eip */
}

static void what_capstone_does_not_know(void **state)
{
    (void)state;
    /* kmovd eax, k0; vpcmpub k0, ymm16, [rdi+1], 1; rdpkru; ret */
    assert_int_equal(READ(0xc5, 0xfb, 0x93, 0xc0, 0x62, 0xf3, 0x7d, 0x20, 0x3e, 0x47, 1, 1, 0x0f,
                          0x01, 0xee, 0xc3),
                     0);
    assert_int_equal(code.count, 2);
    point(1, BASE + 15, R, RUN_PROBE_COPY_AWAY);
}

static void what_cannot_have_a_probe(void **state)
{
    (void)state;
    assert_int_equal(READ(0x90, 0xcb), -ENOEXEC); /* retf */
    assert_non_null(strstr(code.reason, "+0x1 cannot have a probe"));
    assert_int_equal(READ(0xcc, 0xc3), -ENOEXEC);
    assert_non_null(strstr(code.reason, "interrupt"));
    assert_int_equal(READ(0xc7, 0xf8, 0, 0, 0, 0, 0xc3), -ENOEXEC); /* xbegin */
    assert_non_null(strstr(code.reason, "transaction"));
    assert_int_equal(READ(0x90, 0xc7, 0xf8, 0, 0, 0, 0, 0xc3),
                     0); /* elsewhere it does not matter */
    assert_int_equal(READ(0x0f, 0x05, 0xc3), 0); /* syscall */
    assert_int_equal(READ(0x66, 0xe9, 0x70, 0, 0xc3), -ENOEXEC);
}

static void data_in_the_code(void **state)
{
    static const uint8_t bytes[] = {0x55, 0xc3, 0x06, 0x06};

    (void)state;
    assert_int_equal(read_bytes(bytes, sizeof bytes, false), -ENOEXEC);
    assert_non_null(strstr(code.reason, "+0x2"));
    assert_int_equal(read_bytes(bytes, sizeof bytes, true), 0); /* its size is not known */
    assert_int_equal(code.count, 2);
    assert_int_equal(code.parts[0].end, BASE + 2);
    assert_int_equal(read_bytes(bytes + 2, 2, true), -ENOEXEC);
    assert_int_equal(READ(0x48, 0x8b), -ENOEXEC); /* cut */
}

static void code_that_runs_on(void **state)
{
    (void)state;
    assert_int_equal(READ(0x55, 0x5d), 0); /* into the next function */
    assert_int_equal(code.count, 2);
    point(1, BASE + 1, R, RUN_PROBE_COPY);
    assert_int_equal(READ(0x5d), 0);
    point(0, BASE, E | R, RUN_PROBE_COPY);
    assert_int_equal(READ(0x55, 0xe8, 0, 0, 0, 0), 0); /* into a function that does not return */
    assert_int_equal(code.count, 1);
    assert_int_equal(READ(0x55, 0x0f, 0x0b), 0); /* ud2 */
    assert_int_equal(code.count, 1);
}

static void a_part_elsewhere(void **state)
{
    /* ja back; ret; jmp outside; jne back */
    static const uint8_t cold[] = {0x0f, 0x87, 0xfa, 0xef, 0xff, 0xff,
                                   0xc3, 0x75, 0x70, 0xff, 0xe0};
    const struct run_probe_point *p;

    (void)state;
    cold_bytes = cold;
    cold_count = sizeof cold;
    /* push; jmp COLD; ret */
    assert_int_equal(READ(0x55, 0xe9, 0xfa, 0x0f, 0, 0, 0xc3), 0);
    assert_int_equal(code.part_count, 2);
    assert_int_equal(code.count, 5);
    point(1, BASE + 6, R, RUN_PROBE_COPY_AWAY);
    point(2, COLD + 6, R, RUN_PROBE_COPY_AWAY);
    p = point(3, COLD + 7, R, RUN_PROBE_JUMP_IF);
    assert_int_equal(p->inside_start, -7);
    assert_int_equal(p->inside_end, 4);
    p = point(4, COLD + 9, R, RUN_PROBE_JUMP_REGISTER);
    assert_int_equal(p->inside_start, (int64_t)BASE - (COLD + 9));
    assert_int_equal(p->inside_end, (int64_t)BASE + 7 - (COLD + 9));
}

static void places(void **state)
{
    static const uint8_t bytes[] = {0x55, 0x48, 0x89, 0xe5, 0xc3};
    const struct probe_range range = {BASE, BASE + sizeof bytes};
    struct probe_code_point place;

    (void)state;
    code_bytes = bytes;
    code_count = sizeof bytes;
    assert_int_equal(probe_code_place(&code, range, BASE + 1, &place), 0);
    assert_int_equal(place.point.kind, RUN_PROBE_PLACE);
    assert_int_equal(place.point.bytes, 3);
    assert_int_equal(probe_code_place(&code, range, BASE + 4, &place), 0);
    assert_int_equal(place.point.flow, RUN_PROBE_COPY_AWAY);
    assert_int_equal(probe_code_place(&code, range, BASE + 3, &place), -ENOEXEC);
    assert_non_null(strstr(code.reason, "begins at +0x1 and the next at +0x4"));
}

/* No bytes make it read beyond them or forget its entry. */
static void random_code(void **state)
{
    struct test_random random = {1};
    uint8_t *bytes = malloc(64);

    (void)state;
    for (int n = 0; n < 100000; n++) {
        size_t count = 1 + test_random_below(&random, 24);
        uint8_t *end = bytes + 64 - count;

        for (size_t i = 0; i < count; i++)
            end[i] = (uint8_t)test_random_next(&random);
        if (read_bytes(end, count, n % 2) == 0)
            assert_true(code.count >= 1 && (code.points[0].point.kind & E) != 0);
    }
    free(bytes);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(returns),
        TEST(jumps),
        TEST(long_conditions_and_counts),
        TEST(indirect_jumps),
        TEST(entries_that_call),
        TEST(operands_relative_to_rip),
        TEST(what_capstone_does_not_know),
        TEST(what_cannot_have_a_probe),
        TEST(data_in_the_code),
        TEST(code_that_runs_on),
        TEST(a_part_elsewhere),
        TEST(places),
        TEST(random_code),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
