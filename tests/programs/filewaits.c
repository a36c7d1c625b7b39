/* Waits for a file of the host: when it is opened, read, and mapped.  The argument is its path
 * without the first slash, so that it is not packed. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define BYTES (1u << 20) /* of the file: half is read, half is mapped */
#define NOINLINE __attribute__((noinline))

NOINLINE int opens(const char *path)
{
    return open(path, O_RDONLY);
}

NOINLINE uint32_t reads(int file)
{
    static uint8_t bytes[BYTES / 2];

    return pread(file, bytes, sizeof bytes, 0) == sizeof bytes ? bytes[0] : 0;
}

NOINLINE uint32_t touches(const uint8_t *bytes)
{
    uint32_t sum = 0;

    for (uint32_t i = 0; i < BYTES / 2; i += 4096)
        sum += bytes[i];
    return sum;
}

int main(int argc, char **argv)
{
    char path[4096];
    void *half;
    int file;

    snprintf(path, sizeof path, "/%s", argc == 2 ? argv[1] : "");
    file = opens(path);
    half = mmap(NULL, BYTES / 2, PROT_READ, MAP_PRIVATE, file, BYTES / 2);
    if (file < 0 || half == MAP_FAILED)
        return 1;
    printf("%u %u\n", reads(file), touches(half));
    return 0;
}
