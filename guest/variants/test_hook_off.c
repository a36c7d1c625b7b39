/* test_hook for ordinary kernels: does nothing. */
#include "guest/base/panic.h"

void test_hook(const char *)
{
}
