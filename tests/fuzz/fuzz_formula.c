/* Fuzzes formulas: what is taken keeps its bounds, and has a value or none. */
#include <math.h>
#include <string.h>

#include "host/metrics/formula.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    double values[FORMULA_NAMES_MAX] = {0, 1, 2.5, -3, 1e300};
    struct formula f;
    uint32_t at;

    fuzz_check(text != NULL);
    memcpy(text, data, size);
    text[size] = 0;
    if (formula_parse(&f, text, &at) == NULL) {
        double value = formula_value(&f, values);

        fuzz_check(f.step_count > 0 && f.step_count <= FORMULA_STEPS_MAX);
        fuzz_check(f.name_count <= FORMULA_NAMES_MAX);
        fuzz_check(isnan(value) || isfinite(value));
        fuzz_check(at == strlen(text));
    }
    fuzz_check(at <= strlen(text));
    free(text);
    return 0;
}
