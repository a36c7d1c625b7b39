/* Fuzzes the reader of scripts' first lines: what it gives are words of that line. */
#include <stdbool.h>
#include <string.h>

#include "host/pack/program/pack_script.h"
#include "tests/fuzz/fuzz.h"

static bool is_word(const char *text)
{
    return text[0] != 0 && strpbrk(text, " \t\n") == NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size != 0 ? size : 1);
    struct pack_script_env env;
    struct pack_script script;

    fuzz_check(copy != NULL);
    memcpy(copy, data, size);
    if (pack_script_parse(copy, size, &script) == 0) {
        size_t bytes = strlen(script.argument);

        fuzz_check(pack_script_is(copy, size));
        fuzz_check(is_word(script.interpreter));
        fuzz_check(strchr(script.argument, '\n') == NULL);
        fuzz_check(bytes == 0 || strchr(" \t", script.argument[bytes - 1]) == NULL);
        if (pack_script_parse_env(&script, &env) == 0) {
            fuzz_check(env.word_count > 0 && strchr(env.words[0], '=') == NULL);
            for (size_t i = 0; i < env.setting_count; i++)
                fuzz_check(is_word(env.settings[i]) && strchr(env.settings[i], '=') != NULL);
        }
    }
    free(copy);
    return 0;
}
