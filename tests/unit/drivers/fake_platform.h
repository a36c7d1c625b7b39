/* What drivers ask of the platform, for tests of them: memory that may run out, and a log.  Include
 * once.
 */
#ifndef TESTS_UNIT_DRIVERS_FAKE_PLATFORM_H
#define TESTS_UNIT_DRIVERS_FAKE_PLATFORM_H

#include <stdlib.h>

#include "tests/unit/test.h"

#include "drivers/platform.h"

#define FAKE_ALLOCATIONS 128

static struct {
    unsigned allocations_left, allocation_count;
    void *allocations[FAKE_ALLOCATIONS];
    unsigned logged; /* lines */
} fake_platform;

void *platform_allocate(size_t bytes)
{
    if (fake_platform.allocations_left == 0)
        return NULL;
    fake_platform.allocations_left--;
    assert_in_range(fake_platform.allocation_count, 0, FAKE_ALLOCATIONS - 1);
    void *memory = calloc(1, bytes);
    assert_non_null(memory);
    fake_platform.allocations[fake_platform.allocation_count++] = memory;
    return memory;
}

uint64_t platform_physical_address(const void *pointer)
{
    return (uintptr_t)pointer;
}

void platform_log(const char *format, ...)
{
    (void)format;
    fake_platform.logged++;
}

static void fake_platform_reset(void)
{
    memset(&fake_platform, 0, sizeof fake_platform);
    fake_platform.allocations_left = FAKE_ALLOCATIONS;
}

/* cmocka's tear-down. */
static int fake_destroy(void **state)
{
    (void)state;
    for (unsigned i = 0; i < fake_platform.allocation_count; i++)
        free(fake_platform.allocations[i]);
    return 0;
}

#endif
