/* panic_test for ordinary kernels: does nothing. */
#include "guest/panic.h"

void panic_test(const char *where)
{
    (void)where;
}
