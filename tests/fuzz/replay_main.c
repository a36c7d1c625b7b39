/* Runs a fuzz target on the files given as arguments, for compilers without libFuzzer. */
#include <errno.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

/* Reads a file into a block of exactly its size, so that ASan sees any read past it. */
static uint8_t *load(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    uint8_t *bytes = NULL;
    long end;

    if (!f)
        return NULL;
    if (fseek(f, 0, SEEK_END) == 0 && (end = ftell(f)) >= 0) {
        rewind(f);
        *size = (size_t)end;
        bytes = malloc(*size ? *size : 1);
        if (bytes && fread(bytes, 1, *size, f) != *size) {
            free(bytes);
            bytes = NULL;
        }
    }
    fclose(f);
    return bytes;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        size_t size;
        uint8_t *bytes = load(argv[i], &size);

        if (!bytes) {
            fprintf(stderr, "%s: %s\n", argv[i], strerror(errno));
            return 1;
        }
        LLVMFuzzerTestOneInput(bytes, size);
        free(bytes);
    }
    printf("%s: %d inputs\n", argv[0], argc - 1);
    return argc > 1 ? 0 : 1;
}
