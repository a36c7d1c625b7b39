/* Tests of host/draw/function_name.c: what names a C++ or Rust function, and what is listed
 * instead. */
#include "host/draw/function_name.h"

#include <string.h>

#include "tests/unit/test.h"

static void names_match_by_their_parts(void **state)
{
    static const struct {
        const char *wanted, *name;
        enum function_match match;
    } table[] = {
        {"main", "main", FUNCTION_FULL},
        {"main", "ns::main()", FUNCTION_BASE},
        {"mai", "main", FUNCTION_OTHER},
        {"", "main", FUNCTION_OTHER},
        {"main", "", FUNCTION_OTHER},
        {"method", "ns::Class::method(int, char const*)", FUNCTION_BASE},
        {"Class::method", "ns::Class::method(int, char const*)", FUNCTION_BASE},
        {"ns::Class::method", "ns::Class::method(int, char const*)", FUNCTION_QUALIFIED},
        {"lass::method", "ns::Class::method(int, char const*)", FUNCTION_OTHER},
        {"ns::Class", "ns::Class::method(int, char const*)", FUNCTION_OTHER},
        {"char", "f(std::char)", FUNCTION_OTHER},
        {"push_back", "std::vector<int, std::allocator<int> >::push_back(int const&)",
         FUNCTION_BASE},
        {"std::vector::push_back", "std::vector<int, std::allocator<int> >::push_back(int const&)",
         FUNCTION_QUALIFIED},
        {"std::vector<int>::push_back", "std::vector<int>::push_back(int const&)",
         FUNCTION_QUALIFIED},
        {"std::sort", "void std::sort<int*>(int*, int*)", FUNCTION_QUALIFIED},
        {"sort", "void std::sort<int (*)(int)>(int (*)(int))", FUNCTION_BASE},
        {"f", "(anonymous namespace)::f(int) const", FUNCTION_BASE},
        {"f", "f(int) [clone .part.0]", FUNCTION_QUALIFIED},
        {"to_string", "std::to_string[abi:cxx11](int)", FUNCTION_BASE},
        {"operator()", "run(int)::{lambda(int)#1}::operator()(int) const", FUNCTION_BASE},
        {"operator<<", "std::ostream::operator<<(int)", FUNCTION_BASE},
        {"operator new", "operator new(unsigned long)", FUNCTION_QUALIFIED},
        {"operator bool", "ns::C::operator bool() const", FUNCTION_BASE},
        {"method", "<T as ns::Trait>::method", FUNCTION_BASE},
        {"spin", "demo::sub::spin", FUNCTION_BASE},
        {"operator", "operator", FUNCTION_FULL},
        {"x", "x<<<<((((", FUNCTION_QUALIFIED},
        {"x", ">>>))]]x", FUNCTION_OTHER},
        {"idle", "[kernel] idle", FUNCTION_QUALIFIED},
        {"[kernel] idle", "idle", FUNCTION_QUALIFIED},
        {"method@lib.so", "ns::method(int)", FUNCTION_BASE},
        {"method@other.so", "ns::method(int)", FUNCTION_OTHER},
        {"memcpy@V1", "memcpy@V1", FUNCTION_FULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (function_matches(table[i].wanted, table[i].name, "lib.so") != table[i].match)
            fail_msg("%s for %s: %d", table[i].wanted, table[i].name,
                     function_matches(table[i].wanted, table[i].name, "lib.so"));
}

static void long_names_stay_within_bounds(void **state)
{
    static char name[20000];

    (void)state;
    for (const char *c = "<(o:[ a"; *c != 0; c++) {
        memset(name, *c, sizeof name - 1);
        assert_int_equal(function_matches("x", name, NULL), FUNCTION_OTHER);
        memcpy(name + sizeof name - 10, "::x(int)", 8);
        function_matches("x", name, NULL);
    }
}

static void the_best_match_is_chosen(void **state)
{
    static const char *const names[] = {"ns::f(int)", "f(int)", "g::f()", "f(int)", "other"};
    struct function_choice choice;

    (void)state;
    function_choice_init(&choice, "f");
    for (size_t i = 0; i < 5; i++)
        function_choice_offer(&choice, names[i], "a.out");
    assert_string_equal(function_choice_name(&choice, "", ""), "f(int)");
    assert_true(function_choice_has(&choice, "f(int)", "lib.so"));
    assert_false(function_choice_has(&choice, "g::f()", "a.out"));

    function_choice_init(&choice, "f");
    function_choice_offer(&choice, names[0], NULL);
    function_choice_offer(&choice, names[2], NULL);
    function_choice_offer(&choice, NULL, NULL);
    assert_int_equal(choice.count, 2);
    assert_null(function_choice_name(&choice, "--callers ", "no"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_match_by_their_parts),
        cmocka_unit_test(long_names_stay_within_bounds),
        cmocka_unit_test(the_best_match_is_chosen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
