/* churn N: allocates and frees an object N times. */
#include <stdlib.h>

static volatile char *volatile last; /* or the calls would be left out */

int main(int argc, char **argv)
{
    for (unsigned long i = argc > 1 ? strtoul(argv[1], NULL, 10) : 1; i != 0; i--) {
        last = malloc(100);
        free((void *)last);
    }
    return 0;
}
