/* Writes the golden traces into a directory: make_golden DIRECTORY. */
#include <stdio.h>

#include "tests/golden/golden.h"

int main(int argc, char **argv)
{
    static uint8_t bytes[GOLDEN_BYTES_MAX];

    if (argc != 2) {
        fprintf(stderr, "usage: make_golden DIRECTORY\n");
        return 2;
    }
    for (const struct golden *g = golden_table; g->name; g++) {
        size_t count = g->build(bytes);
        char path[4096];
        FILE *f;

        snprintf(path, sizeof path, "%s/%s.bin", argv[1], g->name);
        f = fopen(path, "wb");
        if (!f || fwrite(bytes, 1, count, f) != count || fclose(f) != 0) {
            perror(path);
            return 1;
        }
        printf("%s: %zu bytes\n", path, count);
    }
    return 0;
}
