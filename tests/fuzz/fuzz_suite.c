/* Fuzzes microtome.toml: what is read is a suite that can be run; an error says the file, and the
 * line where there is one. */
#include <string.h>

#include "host/suite/suite.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct run_failure failure = {0};
    struct suite suite = {0};

    if (suite_parse(&suite, "f", (const char *)data, size, &failure) == 0) {
        fuzz_check(suite.name != NULL && suite.benchmark_count != 0);
        for (size_t i = 0; i < suite.benchmark_count; i++) {
            const struct suite_benchmark *b = &suite.benchmarks[i];

            fuzz_check(b->command.count != 0 && b->options.count >= 2);
            fuzz_check(b->name != NULL && strchr(b->name, '/') == NULL && b->name[0] != '.');
            for (size_t o = 0; o < b->options.count; o++)
                fuzz_check(b->options.list[o][0] == '-' && b->options.list[o][1] != 0);
        }
    } else {
        fuzz_check(failure.exit_status != 0 && strncmp(failure.text, "f:", 2) == 0);
    }
    suite_free(&suite);
    return 0;
}
