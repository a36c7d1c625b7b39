/* Tests of host/symbols/symbols_demangle.c and host/symbols/symbols_names.c: names of C++ and Rust,
 * hostile ones, and the bounds of what is kept.
 */
#include "host/symbols/symbols_demangle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/symbols/symbols_names.h"
#include "tests/unit/test.h"

static void expect(const char *name, const char *wanted)
{
    char *text = symbols_demangle(name);

    if (wanted == NULL)
        assert_null(text);
    else
        assert_string_equal(text, wanted);
    free(text);
}

static void names_become_what_was_written(void **state)
{
    (void)state;
    expect("_ZNSt6vectorIiSaIiEE9push_backERKi",
           "std::vector<int, std::allocator<int> >::push_back(int const&)");
    expect("_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()() const");
    expect("_Z3foov.part.0", "foo() [clone .part.0]");
    /* both of Rust's, without the hash and what LLVM adds */
    expect("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt");
    expect("_ZN7mycrate3foo17h1234567890abcdefE.llvm.1234567", "mycrate::foo");
    expect("_RINvNtC3std3mem8align_ofNtNtC3std4path4PathE",
           "std::mem::align_of::<std::path::Path>");
}

static void other_names_stay(void **state)
{
    (void)state;
    expect("main", NULL);
    expect("", NULL);
    expect("_", NULL);
    expect("_Z", NULL);
    expect("_R", NULL);
    expect("_Zebra", NULL);
    expect("main.(*T).run", NULL); /* Go's */
    expect("_ZN", NULL);
}

/* One name of 4 bytes a step doubles the text with each. */
static void texts_without_end_are_given_up(void **state)
{
    static const char numbers[] = "123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char name[1024] = "_Z1f1PI1aS0_E";
    size_t used = strlen(name);

    (void)state;
    for (const char *n = numbers; *n != 0; n++)
        used += (size_t)sprintf(name + used, "S_IS%c_S%c_E", *n, *n);
    expect(name, NULL);
}

static void deep_names_are_given_up(void **state)
{
    static const char *const pieces[] = {"P", "PF", "N", "I", "iT_", "Dp", "L_Z1fI", "J", "X"};
    char name[6000];

    (void)state;
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++)
        for (size_t bytes = 500; bytes < 5500; bytes += 500) {
            char *text;

            strcpy(name, "_Z1fI");
            for (size_t used = 5; used < bytes; used += strlen(pieces[i]))
                strcpy(name + used, pieces[i]);
            text = symbols_demangle(name);
            free(text);
        }
}

/* Longer than libiberty takes by default, as C++ has them. */
static void long_names_are_read(void **state)
{
    char name[3000] = "_ZN", wanted[3000] = "";

    (void)state;
    for (int i = 0; i < 500; i++) {
        strcat(name, "3foo");
        strcat(wanted, i != 0 ? "::foo" : "foo");
    }
    strcat(name, "Ev");
    strcat(wanted, "()");
    expect(name, wanted);
}

static void texts_are_kept_once(void **state)
{
    struct symbols_names names = {0};
    const char *first = symbols_names_keep(&names, "hello world", 5);
    char text[32];

    (void)state;
    assert_string_equal(first, "hello");
    for (int i = 0; i < 5000; i++) {
        snprintf(text, sizeof text, "text %d", i);
        assert_string_equal(symbols_names_keep(&names, text, SIZE_MAX), text);
    }
    assert_ptr_equal(symbols_names_keep(&names, "hello", SIZE_MAX), first);
    assert_ptr_not_equal(symbols_names_keep(&names, "hell", SIZE_MAX), first);
    assert_int_equal(names.count, 5002);
    symbols_names_free(&names);
}

static void what_is_kept_is_bounded(void **state)
{
    struct symbols_names names = {0};
    char *text = malloc(1u << 20);
    int kept = 0;

    (void)state;
    assert_non_null(text);
    memset(text, 'x', 1u << 20);
    text[(1u << 20) - 1] = 0;
    for (int i = 0; i < 100; i++) {
        text[0] = (char)(' ' + i);
        kept += symbols_names_keep(&names, text, SIZE_MAX) != NULL;
    }
    assert_in_range(kept, 30, 32);
    assert_true(names.bytes <= SYMBOLS_NAMES_BYTES_MAX);
    assert_null(symbols_names_keep(&names, text, SIZE_MAX));
    symbols_names_free(&names);
    free(text);
}

static void functions_lose_versions(void **state)
{
    struct symbols_names names = {0};

    (void)state;
    assert_string_equal(symbols_names_function(&names, "memcpy@@GLIBC_2.14", false), "memcpy");
    assert_string_equal(symbols_names_function(&names, "memcpy@GLIBC_2.2.5", true), "memcpy");
    assert_string_equal(symbols_names_function(&names, "@odd", false), "@odd");
    assert_string_equal(symbols_names_function(&names, "", false), "");
    assert_string_equal(symbols_names_function(&names, "_Z1fv", false), "f()");
    assert_string_equal(symbols_names_function(&names, "_Z1fv", true), "_Z1fv");
    assert_string_equal(symbols_names_function(&names, "_Z1fv@@V1", false), "f()");
    symbols_names_free(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_become_what_was_written),
        cmocka_unit_test(other_names_stay),
        cmocka_unit_test(texts_without_end_are_given_up),
        cmocka_unit_test(deep_names_are_given_up),
        cmocka_unit_test(long_names_are_read),
        cmocka_unit_test(texts_are_kept_once),
        cmocka_unit_test(what_is_kept_is_bounded),
        cmocka_unit_test(functions_lose_versions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
