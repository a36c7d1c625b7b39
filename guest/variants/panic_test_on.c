/* panic_test for test kernels: breaks the kernel in the way that the manifest names. */
#include <stdint.h>
#include <string.h>

#include "guest/log.h"
#include "guest/panic.h"
#include "guest/run.h"

static __attribute__((noinline)) void store_to_null(void)
{
    __asm__ volatile("movl $1, 8");
}

/* The page fault cannot be delivered on such a stack: a double fault, on its own stack. */
static __attribute__((noinline)) void lose_stack(void)
{
    __asm__ volatile("movq $8, %rsp; pushq $0");
}

void panic_test(const char *where)
{
    const char *test = manifest_text(&run.manifest, "panic-test", "");
    char wanted[64];

    format_text(wanted, sizeof wanted, "%s-null", where);
    if (strcmp(test, wanted) == 0)
        store_to_null();
    format_text(wanted, sizeof wanted, "%s-stack", where);
    if (strcmp(test, wanted) == 0)
        lose_stack();
    format_text(wanted, sizeof wanted, "%s-panic", where);
    if (strcmp(test, wanted) == 0)
        panic("asked for by the manifest");
}
