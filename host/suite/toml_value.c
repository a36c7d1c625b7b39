/* Parses TOML values: numbers, booleans, arrays, inline tables. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"
#include "host/base/text.h"
#include "host/suite/toml_parse.h"

#define WORD_BYTES 64u

struct toml *toml_make(const struct toml_parser *p, enum toml_kind kind)
{
    struct toml *value = calloc(1, sizeof *value);

    if (value == NULL) {
        toml_wrong(p, "%s", strerror(ENOMEM));
        return NULL;
    }
    value->kind = kind;
    value->line = p->line;
    return value;
}

int toml_append(const struct toml_parser *p, struct toml *list, struct toml *item)
{
    if (list->count < TOML_ITEMS_MAX &&
        array_grow(&list->items, list->count, sizeof(void *)) == 0) {
        list->items[list->count++] = item;
        return 0;
    }
    toml_free(item);
    if (list->count < TOML_ITEMS_MAX)
        return toml_wrong(p, "%s", strerror(ENOMEM));
    return toml_wrong(p, "more than %u values in one table or array", TOML_ITEMS_MAX);
}

/* Copies a number without its underscores, each of which is between digits. */
static bool strip(const char *word, char plain[WORD_BYTES])
{
    const char *digits = strncmp(word, "0x", 2) == 0 ? "0123456789abcdefABCDEF" : "0123456789";
    size_t used = 0;

    for (size_t i = 0; word[i] != 0; i++) {
        if (word[i] != '_')
            plain[used++] = word[i];
        else if (i == 0 || strchr(digits, word[i - 1]) == NULL || word[i + 1] == 0 ||
                 strchr(digits, word[i + 1]) == NULL)
            return false;
    }
    plain[used] = 0;
    return true;
}

static bool is_digits(const char *text)
{
    return text[0] != 0 && strspn(text, "0123456789") == strlen(text);
}

static bool read_integer(const char *plain, struct toml *value)
{
    const char *digits = plain + (*plain == '+' || *plain == '-');
    static const struct {
        const char *prefix, *digits;
        int base;
    } bases[] = {{"0x", "0123456789abcdefABCDEF", 16}, {"0o", "01234567", 8}, {"0b", "01", 2}};

    errno = 0;
    value->kind = TOML_INTEGER;
    for (size_t i = 0; i < sizeof bases / sizeof bases[0]; i++)
        if (strncmp(plain, bases[i].prefix, 2) == 0) {
            value->integer = strtoll(plain + 2, NULL, bases[i].base);
            return plain[2] != 0 && strspn(plain + 2, bases[i].digits) == strlen(plain + 2) &&
                   errno == 0;
        }
    value->integer = strtoll(plain, NULL, 10);
    return is_digits(digits) && (digits[0] != '0' || digits[1] == 0) && errno == 0;
}

static bool read_float(const char *plain, struct toml *value)
{
    const char *at = plain + (*plain == '+' || *plain == '-');
    size_t whole = strspn(at, "0123456789"), part = 0;
    char *end;

    value->kind = TOML_FLOAT;
    value->real = strtod(plain, &end);
    if (strcmp(at, "inf") == 0 || strcmp(at, "nan") == 0)
        return true;
    if (whole == 0 || (at[0] == '0' && whole > 1) || *end != 0 || !isfinite(value->real))
        return false;
    at += whole;
    if (*at == '.')
        part = 1 + strspn(at + 1, "0123456789");
    return part != 1 && (at[part] == 0 ? part != 0 : at[part] == 'e' || at[part] == 'E');
}

/* What is no string, array or table: a word up to the next separator. */
static struct toml *take_word(struct toml_parser *p)
{
    char word[WORD_BYTES] = "", plain[WORD_BYTES], safe[WORD_BYTES * 4];
    struct toml *value = toml_make(p, TOML_BOOLEAN);
    size_t bytes = 0;

    while (p->at + bytes < p->end && strchr(" \t\r\n,]}#=", p->at[bytes]) == NULL)
        bytes++;
    if (value == NULL)
        return NULL;
    memcpy(word, p->at, bytes < WORD_BYTES ? bytes : WORD_BYTES - 1);
    value->boolean = strcmp(word, "true") == 0;
    if (bytes < WORD_BYTES &&
        (value->boolean || strcmp(word, "false") == 0 ||
         (strip(word, plain) && (read_integer(plain, value) || read_float(plain, value))))) {
        p->at += bytes;
        return value;
    }
    if (word[0] == 0)
        toml_wrong(p, "a value is missing");
    else
        toml_wrong(p, "%s is no value that this file can have; put a text into quotes",
                   text_escape(safe, sizeof safe, word));
    toml_free(value);
    return NULL;
}

/* The rest of [a, b, ...] or {a = b, ...}; `end` is its bracket. */
static int take_items(struct toml_parser *p, struct toml *list, char end)
{
    bool table = list->kind == TOML_TABLE, first = true;
    struct toml *item;

    for (;; first = false) {
        if (table)
            toml_blanks(p);
        else if (toml_lines(p) != 0)
            return -1;
        if (toml_take(p, end) && (first || !table)) /* an array may have a comma at its end */
            return 0;
        if (table && toml_pair(p, list) != 0)
            return -1;
        if (!table) {
            item = toml_value(p);
            if (item == NULL || toml_append(p, list, item) != 0 || toml_lines(p) != 0)
                return -1;
        }
        toml_blanks(p);
        if (toml_take(p, end))
            return 0;
        if (!toml_take(p, ','))
            return toml_wrong(p, "a , or %c is missing", end);
    }
}

static struct toml *take_list(struct toml_parser *p, enum toml_kind kind)
{
    struct toml *list = toml_make(p, kind);
    int result = -1;

    if (list == NULL)
        return NULL;
    p->at++;
    if (p->depth++ == TOML_DEPTH_MAX)
        toml_wrong(p, "more than %u arrays and tables in each other", TOML_DEPTH_MAX);
    else
        result = take_items(p, list, kind == TOML_ARRAY ? ']' : '}');
    p->depth--;
    list->closed = true;
    if (result == 0)
        return list;
    toml_free(list);
    return NULL;
}

struct toml *toml_value(struct toml_parser *p)
{
    char first = p->at < p->end ? *p->at : 0;
    struct toml *value;

    if (first == '[' || first == '{')
        return take_list(p, first == '[' ? TOML_ARRAY : TOML_TABLE);
    if (first != '"' && first != '\'')
        return take_word(p);
    value = toml_make(p, TOML_STRING);
    if (value == NULL)
        return NULL;
    value->text = toml_string(p);
    if (value->text != NULL)
        return value;
    toml_free(value);
    return NULL;
}
