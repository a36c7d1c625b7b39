/* Writes a trace that lies, with checksums that are right: see tests/fuzz/mutate_trace.h.
 *
 *   mutate SEED IN OUT
 */
#include <stdio.h>

#include "tests/fuzz/mutate_trace.h"

#define BYTES_MAX (16u << 20)

int main(int argc, char **argv)
{
    static uint8_t bytes[BYTES_MAX];
    FILE *in = argc == 4 ? fopen(argv[2], "rb") : NULL;
    FILE *out = argc == 4 ? fopen(argv[3], "wb") : NULL;
    size_t count;

    if (in == NULL || out == NULL) {
        fputs("usage: mutate SEED IN OUT\n", stderr);
        return 2;
    }
    count = fread(bytes, 1, sizeof bytes, in);
    count = mutate_trace(bytes, count, sizeof bytes, strtoull(argv[1], NULL, 10));
    fclose(in);
    if (fwrite(bytes, 1, count, out) != count || fclose(out) != 0)
        return 1;
    return 0;
}
