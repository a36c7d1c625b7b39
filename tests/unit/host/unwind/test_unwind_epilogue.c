/* Tests of host/unwind/unwind_epilogue.c: ends of functions as compilers write them. */
#include "host/unwind/unwind_epilogue.h"

#include "tests/unit/test.h"

enum { RBX = 1 << 3, RBP = 1 << 6, R12 = 1 << 12, R13 = 1 << 13, R14 = 1 << 14, R15 = 1 << 15 };
enum { ALL = RBX | RBP | R12 | R13 | R14 | R15 };

#define EPILOGUE(...) \
    unwind_epilogue((const uint8_t[]){__VA_ARGS__}, sizeof(const uint8_t[]){__VA_ARGS__})

static void at_a_return_all_is_restored(void **state)
{
    (void)state;
    assert_int_equal(EPILOGUE(0xc3), ALL);
    assert_int_equal(EPILOGUE(0xf3, 0xc3), ALL);
    assert_int_equal(EPILOGUE(0xf2, 0xc3), ALL);
    assert_int_equal(EPILOGUE(0xc2, 0x08, 0x00), ALL);
}

static void what_is_still_popped_is_not(void **state)
{
    (void)state;
    assert_int_equal(EPILOGUE(0x5b, 0xc3), ALL & ~RBX);
    assert_int_equal(EPILOGUE(0x5d, 0xc3), ALL & ~RBP);
    assert_int_equal(EPILOGUE(0xc9, 0xc3), ALL & ~RBP);
    assert_int_equal(EPILOGUE(0x41, 0x5c, 0x41, 0x5d, 0x41, 0x5e, 0x41, 0x5f, 0xc3), RBX | RBP);
    assert_int_equal(EPILOGUE(0x59, 0xc3), ALL); /* rcx: room on the stack */
    assert_int_equal(EPILOGUE(0x48, 0x83, 0xc4, 0x18, 0x5b, 0xc3), ALL & ~RBX);
    assert_int_equal(EPILOGUE(0xc5, 0xf8, 0x77, 0x48, 0x81, 0xc4, 0, 1, 0, 0, 0x5b, 0xc3),
                     ALL & ~RBX);
}

static void other_code_says_nothing(void **state)
{
    (void)state;
    assert_int_equal(EPILOGUE(0x90, 0xc3), 0);
    assert_int_equal(EPILOGUE(0x48, 0x8b, 0x5d, 0xf8, 0xc9, 0xc3), 0); /* mov rbx, [rbp - 8] */
    assert_int_equal(EPILOGUE(0xeb, 0xfe), 0);
    assert_int_equal(EPILOGUE(0x41, 0xc3), 0);
}

static void code_may_end_anywhere(void **state)
{
    (void)state;
    assert_int_equal(unwind_epilogue(NULL, 0), 0);
    assert_int_equal(EPILOGUE(0x5b), 0);
    assert_int_equal(EPILOGUE(0x41), 0);
    assert_int_equal(EPILOGUE(0xf3), 0);
    assert_int_equal(EPILOGUE(0x48, 0x83, 0xc4), 0);
    assert_int_equal(EPILOGUE(0x48, 0x83, 0xc4, 0x18), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_a_return_all_is_restored),
        cmocka_unit_test(what_is_still_popped_is_not),
        cmocka_unit_test(other_code_says_nothing),
        cmocka_unit_test(code_may_end_anywhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
