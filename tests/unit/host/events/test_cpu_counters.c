/* Which counters CPUID leaves announce: those of real CPUs, and those that make no sense. */
#include "tests/unit/test.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "host/events/cpu_counters.h"

#define INTEL                                                                               \
    {                                                                                       \
        .function = 0, .eax = 0x1f, .ebx = 0x756e6547, .ecx = 0x6c65746e, .edx = 0x49656e69 \
    }
#define AMD                                                                                 \
    {                                                                                       \
        .function = 0, .eax = 0x10, .ebx = 0x68747541, .ecx = 0x444d4163, .edx = 0x69746e65 \
    }

/* What decoding the leaves gives, in words. */
static const char *words(const struct kvm_cpuid_entry2 *leaves, size_t count)
{
    static char text[CPU_COUNTERS_TEXT_BYTES];
    struct cpu_counters pmu;

    cpu_counters_decode(leaves, count, &pmu);
    return cpu_counters_describe(&pmu, text);
}

#define WORDS(...)                                        \
    words((const struct kvm_cpuid_entry2[]){__VA_ARGS__}, \
          sizeof((struct kvm_cpuid_entry2[]){__VA_ARGS__}) / sizeof(struct kvm_cpuid_entry2))

static void intel(void **state)
{
    (void)state;
    assert_string_equal(WORDS(INTEL, {.function = 0xa, .eax = 0x07300805, .edx = 0x8604}),
                        "version 5, 8 general and 4 fixed counters of 48 bits");
    /* version 1 has no fixed counters, whatever EDX holds */
    assert_string_equal(WORDS(INTEL, {.function = 0xa, .eax = 0x07280201, .edx = 0x603}),
                        "version 1, 2 general and 0 fixed counters of 40 bits");
    assert_string_equal(WORDS(INTEL, {.function = 0xa, .eax = 0x07300005, .edx = 0x8604}), "none");
    assert_string_equal(WORDS(INTEL, {.function = 0xa, .eax = 0x07300800}), "none");
    assert_string_equal(WORDS(INTEL), "none");
    /* AMD's leaves say nothing about an Intel CPU */
    assert_string_equal(WORDS(INTEL, {.function = 0x80000022, .eax = 1, .ebx = 6}), "none");
}

static void hybrid(void **state)
{
    const struct kvm_cpuid_entry2 leaves[] = {INTEL, {.function = 7, .edx = 1u << 15}};
    struct cpu_counters counters;

    (void)state;
    cpu_counters_decode(leaves, 2, &counters);
    assert_true(counters.hybrid);
    cpu_counters_decode(leaves, 1, &counters);
    assert_false(counters.hybrid);
}

static void amd(void **state)
{
    (void)state;
    assert_string_equal(WORDS(AMD, {.function = 0x80000001, .ecx = 1u << 23},
                              {.function = 0x80000022, .eax = 1, .ebx = 0x10406}),
                        "PerfMonV2, 6 counters of 48 bits");
    assert_string_equal(WORDS(AMD, {.function = 0x80000001, .ecx = 1u << 23}),
                        "before PerfMonV2, 6 counters of 48 bits");
    assert_string_equal(WORDS(AMD, {.function = 0x80000022, .eax = 1, .ebx = 0}), "none");
    assert_string_equal(WORDS(AMD, {.function = 0x80000001, .ecx = 0}), "none");
    assert_string_equal(WORDS(AMD, {.function = 0xa, .eax = 0x07300805}), "none");
}

/* Intel SDM volume 2, CPUID, leaf 7 EDX bit 15. */
static void hybrid_is_of_intel(void **state)
{
    const struct kvm_cpuid_entry2 leaves[] = {INTEL, {.function = 7, .edx = 1u << 15}};
    const struct kvm_cpuid_entry2 others[] = {AMD, {.function = 7, .edx = 1u << 15}};
    struct cpu_counters counters;

    (void)state;
    cpu_counters_decode(leaves, 2, &counters);
    assert_true(counters.hybrid);
    cpu_counters_decode(leaves, 1, &counters);
    assert_false(counters.hybrid);
    cpu_counters_decode(others, 2, &counters);
    assert_false(counters.hybrid);
}

static void another_vendor_has_none(void **state)
{
    (void)state;
    assert_string_equal(WORDS({.function = 0, .ebx = 0x746e6543},
                              {.function = 0xa, .eax = 0x07300805},
                              {.function = 0x80000022, .eax = 1, .ebx = 6}),
                        "none");
    assert_string_equal(words(NULL, 0), "none");
}

static void something_that_is_not_kvm(void **state)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    struct cpu_counters pmu = {.version = 9};

    (void)state;
    assert_true(null >= 0);
    assert_true(cpu_counters_of_kvm(null, &pmu) < 0);
    assert_int_equal(pmu.version, 0);
    close(null);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intel),
        cmocka_unit_test(hybrid),
        cmocka_unit_test(amd),
        cmocka_unit_test(hybrid_is_of_intel),
        cmocka_unit_test(another_vendor_has_none),
        cmocka_unit_test(something_that_is_not_kvm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
