/* Measures two of its own steps: an example of docs/first-day.md. */
#include <stdio.h>
#include <stdlib.h>

#include <hr.h>

static struct hr_region parse = HR_REGION("parse"), add = HR_REGION("add");

int main(void)
{
    char text[4096];
    unsigned long sum = 0;

    for (int pass = 0; pass < 10; pass++) {
        int numbers = 100 * (pass + 1), count = 0;
        unsigned long found[1000];

        hr_region_begin(&parse);
        for (int i = 0; i < numbers; i++) {
            snprintf(text, sizeof text, "%d", i * 7);
            found[count++] = strtoul(text, NULL, 10);
        }
        hr_region_end(&parse);
        hr_region_begin(&add);
        for (int i = 0; i < count; i++)
            sum += found[i];
        hr_region_end(&add);
    }
    printf("%lu\n", sum);
    return 0;
}
