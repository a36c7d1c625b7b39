/* Fuzzes demangling: it ends, and gives a text or none. */
#include <string.h>

#include "host/symbols/symbols_demangle.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *name = malloc(size + 1);
    char *text;

    fuzz_check(name != NULL);
    memcpy(name, data, size);
    name[size] = 0;
    text = symbols_demangle(name);
    fuzz_check(text == NULL || text[0] != 0);
    free(text);
    free(name);
    return 0;
}
