/* Reads and writes the run manifest: NUL-terminated "key=value" strings. */
#include "lib/boot/manifest.h"

#include <errno.h>
#include <string.h>

static const char version[] = "version=1";

int manifest_open(struct manifest *m, const void *bytes, size_t count)
{
    const char *text = bytes;
    size_t at = 0;

    if (count < sizeof version || count > RUN_MANIFEST_BYTES_MAX || text[count - 1] != '\0')
        return -EINVAL;
    if (memcmp(text, version, sizeof version) != 0)
        return -EINVAL;
    while (at < count) {
        size_t length = strlen(text + at);
        size_t key_bytes = 0;

        while (key_bytes < length && text[at + key_bytes] != '=')
            key_bytes++;
        if (key_bytes == 0 || key_bytes == length)
            return -EINVAL;
        at += length + 1;
    }
    m->bytes = text;
    m->count = count;
    return 0;
}

const char *manifest_next(const struct manifest *m, const char *key, size_t *position)
{
    size_t key_bytes = strlen(key);

    while (*position < m->count) {
        const char *string = m->bytes + *position;
        size_t length = strlen(string);

        *position += length + 1;
        if (length > key_bytes && string[key_bytes] == '=' && memcmp(string, key, key_bytes) == 0)
            return string + key_bytes + 1;
    }
    return NULL;
}

const char *manifest_text(const struct manifest *m, const char *key, const char *otherwise)
{
    size_t position = 0;
    const char *value = manifest_next(m, key, &position);

    return value != NULL ? value : otherwise;
}

int manifest_number(const struct manifest *m, const char *key, uint64_t *value)
{
    const char *text = manifest_text(m, key, NULL);
    uint64_t number = 0;

    if (text == NULL)
        return -ENOENT;
    if (*text == '\0')
        return -EINVAL;
    for (const char *p = text; *p; p++)
        if (*p < '0' || *p > '9')
            return -EINVAL;
    for (; *text; text++) {
        uint64_t digit = (uint64_t)(*text - '0');

        if (number > (UINT64_MAX - digit) / 10)
            return -ERANGE;
        number = number * 10 + digit;
    }
    *value = number;
    return 0;
}

/* Whether a list of decimal numbers has one of them. */
static int lists(const char *list, uint64_t number)
{
    uint64_t read = 0;

    for (; *list; list++) {
        if (*list >= '0' && *list <= '9')
            read = read * 10 + (uint64_t)(*list - '0');
        else if (read == number)
            return 1;
        else
            read = 0;
    }
    return read == number;
}

int manifest_divide(const struct manifest *whole, uint64_t repetition, struct manifest *common,
                    struct manifest *events)
{
    size_t position = 0, set = whole->count;
    const char *list;
    int wanted = 1; /* the keys before the sets, if there are none */

    *common = *whole;
    while ((list = manifest_next(whole, "repetitions", &position)) != NULL) {
        size_t here = (size_t)(list - whole->bytes) - sizeof "repetitions"; /* '=' for the NUL */

        if (set == whole->count)
            common->count = here;
        else if (wanted)
            break;
        set = here;
        wanted = lists(list, repetition);
    }
    *events = *common;
    if (!wanted)
        return -ENOENT;
    if (set == whole->count)
        return 0;
    events->bytes = whole->bytes + set;
    events->count = list != NULL ? (size_t)(list - whole->bytes) - sizeof "repetitions" - set
                                 : whole->count - set;
    return 0;
}

size_t manifest_append(char *out, size_t room, size_t used, const char *key, const char *value)
{
    size_t key_bytes = strlen(key);
    size_t value_bytes = strlen(value);

    if (used > room || key_bytes >= room - used || value_bytes >= room - used - key_bytes)
        return 0;
    if (room - used - key_bytes - value_bytes < 2)
        return 0;
    memcpy(out + used, key, key_bytes);
    used += key_bytes;
    out[used++] = '=';
    memcpy(out + used, value, value_bytes);
    used += value_bytes;
    out[used++] = '\0';
    return used;
}
