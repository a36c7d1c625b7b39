/* Fuzzes the manifest reader: an accepted manifest is rebuilt byte for byte from what was read. */
#include <errno.h>
#include <string.h>

#include "lib/boot/manifest.h"
#include "tests/fuzz/fuzz.h"

static void check_number(const struct manifest *m, const char *key)
{
    const char *text = manifest_text(m, key, NULL);
    uint64_t value = 4711;
    int status = manifest_number(m, key, &value);
    char *end;

    fuzz_check(text != NULL && status != -ENOENT);
    if (status != 0) {
        fuzz_check(value == 4711 && (status == -EINVAL || status == -ERANGE));
        return;
    }
    errno = 0;
    fuzz_check(strtoull(text, &end, 10) == value && errno == 0 && *end == '\0');
}

/* The value at `at` is among those that iteration over its key finds. */
static void check_found(const struct manifest *m, const char *key, const char *at)
{
    size_t position = 0;
    const char *value;

    while ((value = manifest_next(m, key, &position)) != NULL && value != at)
        fuzz_check(position <= m->count);
    fuzz_check(value == at);
}

/* A set of events is a part of the manifest with whole strings. */
static void check_divided(const struct manifest *m)
{
    struct manifest common, events;

    (void)manifest_divide(m, 1, &common, &events);
    fuzz_check(common.bytes == m->bytes && common.count <= m->count);
    fuzz_check(events.bytes >= m->bytes && events.bytes + events.count <= m->bytes + m->count);
    fuzz_check(events.count == 0 || events.bytes[events.count - 1] == '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct manifest m;
    size_t used = 0;
    char *again;

    if (size > 4096 || manifest_open(&m, data, size) != 0) /* checking takes quadratic time */
        return 0;
    check_divided(&m);
    again = malloc(size);
    fuzz_check(again != NULL);
    for (size_t at = 0; at < size; at += strlen(m.bytes + at) + 1) {
        char *key = strdup(m.bytes + at);
        char *equals = key ? strchr(key, '=') : NULL;

        fuzz_check(equals != NULL && equals != key);
        *equals = '\0';
        check_found(&m, key, m.bytes + at + (equals - key) + 1);
        check_number(&m, key);
        used = manifest_append(again, size, used, key, equals + 1);
        fuzz_check(used != 0);
        free(key);
    }
    fuzz_check(used == size && memcmp(again, data, size) == 0);
    fuzz_check(manifest_append(again, size, used, "k", "") == 0);
    free(again);
    return 0;
}
