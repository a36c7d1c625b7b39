/* Prints length and CRC32C of a file, as microtome.conf and result.conf have them. */
#include <stdio.h>

#include "lib/crc32c.h"

int main(int argc, char **argv)
{
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    static unsigned char buffer[65536];
    unsigned long long bytes = 0;
    uint32_t crc = 0;
    size_t count;

    if (!file) {
        fprintf(stderr, "usage: crc32c FILE\n");
        return 2;
    }
    while ((count = fread(buffer, 1, sizeof buffer, file)) > 0) {
        crc = crc32c(crc, buffer, count);
        bytes += count;
    }
    printf("%llu %08x\n", bytes, crc);
    return ferror(file) ? 1 : 0;
}
