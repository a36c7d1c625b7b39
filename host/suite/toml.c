/* Parses a TOML file: lines, keys and tables. */
#include "host/suite/toml.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/text.h"
#include "host/suite/toml_parse.h"

#define KEY_WORDS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

struct keys { /* a.b.c */
    char *words[TOML_DEPTH_MAX]; /* owned */
    size_t count;
};

int toml_wrong(const struct toml_parser *p, const char *format, ...)
{
    char text[800];
    va_list values;

    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    return run_fail_as(p->failure, 2, "%s:%u: %s", p->name, p->line, text);
}

void toml_blanks(struct toml_parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\t'))
        p->at++;
}

/* What is left of a line: blanks, a comment, its end. */
static int take_line_end(struct toml_parser *p)
{
    toml_blanks(p);
    if (toml_take(p, '#'))
        for (; p->at < p->end && *p->at != '\n'; p->at++)
            if (((unsigned char)*p->at < ' ' && *p->at != '\t' && !toml_sees(p, "\r\n", 2)) ||
                *p->at == 0x7f)
                return toml_wrong(p, "a control character in a comment");
    if (toml_sees(p, "\r\n", 2))
        p->at++;
    if (p->at == p->end)
        return 0;
    if (!toml_take(p, '\n'))
        return toml_wrong(p, "something follows a value on its line");
    p->line++;
    return 0;
}

int toml_lines(struct toml_parser *p)
{
    toml_blanks(p);
    while (p->at < p->end && (*p->at == '#' || *p->at == '\n' || toml_sees(p, "\r\n", 2))) {
        if (take_line_end(p) != 0)
            return -1;
        toml_blanks(p);
    }
    return 0;
}

static void free_keys(struct keys *keys)
{
    for (size_t i = 0; i < keys->count; i++)
        free(keys->words[i]);
    keys->count = 0;
}

/* The caller frees the keys in any case. */
static int take_keys(struct toml_parser *p, struct keys *keys)
{
    keys->count = 0;
    do {
        size_t bytes;
        char *word;

        toml_blanks(p);
        for (bytes = 0; p->at + bytes < p->end && strchr(KEY_WORDS, p->at[bytes]) != NULL; bytes++)
            ;
        if (keys->count == TOML_DEPTH_MAX)
            return toml_wrong(p, "a key has more than %u parts", TOML_DEPTH_MAX);
        if (bytes == 0 && (p->at == p->end || (*p->at != '"' && *p->at != '\'')))
            return toml_wrong(p, "a key is missing: NAME = VALUE, or [NAME]");
        if (toml_sees(p, "\"\"\"", 3) || toml_sees(p, "'''", 3))
            return toml_wrong(p, "a key cannot have several lines");
        word = bytes != 0 ? strndup(p->at, bytes) : toml_string(p);
        p->at += bytes;
        if (word == NULL)
            return toml_wrong(p, "%s", strerror(ENOMEM));
        keys->words[keys->count++] = word;
        toml_blanks(p);
    } while (toml_take(p, '.'));
    return 0;
}

static struct toml *find(const struct toml *table, const char *key)
{
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->items[i]->key, key) == 0)
            return table->items[i];
    return NULL;
}

const struct toml *toml_find(const struct toml *table, const char *key)
{
    return find(table, key);
}

static int there_already(const struct toml_parser *p, const struct toml *known)
{
    char safe[200];

    return toml_wrong(p, "%s is there already, in line %u",
                      text_escape(safe, sizeof safe, known->key), known->line);
}

/* Adds a value by its key, which becomes the value's. */
static int add(const struct toml_parser *p, struct toml *table, char **key, struct toml *value)
{
    value->key = *key;
    *key = NULL;
    return toml_append(p, table, value);
}

/* The table that a part of a header or of a dotted key names; it is made if it is not there.  Of an
 * array of tables it is the last one. */
static struct toml *descend(const struct toml_parser *p, struct toml *table, char **key,
                            bool dotted)
{
    struct toml *next = find(table, *key);

    if (next == NULL) {
        next = toml_make(p, TOML_TABLE);
        if (next == NULL || add(p, table, key, next) != 0)
            return NULL;
        next->dotted = dotted;
        return next;
    }
    if (next->tables && !dotted)
        next = next->items[next->count - 1];
    if (next->kind == TOML_TABLE && !next->closed && (!dotted || next->dotted))
        return next;
    there_already(p, next->key != NULL ? next : find(table, *key));
    return NULL;
}

static struct toml *descend_all(const struct toml_parser *p, struct toml *table, struct keys *keys,
                                bool dotted)
{
    for (size_t i = 0; i + 1 < keys->count && table != NULL; i++)
        table = descend(p, table, &keys->words[i], dotted);
    return table;
}

static int take_value(struct toml_parser *p, struct toml *table, struct keys *keys)
{
    char **last = &keys->words[keys->count - 1];
    struct toml *value;

    if (!toml_take(p, '='))
        return toml_wrong(p, "a = is missing after a key");
    toml_blanks(p);
    table = descend_all(p, table, keys, true);
    if (table == NULL)
        return -1;
    if (find(table, *last) != NULL)
        return there_already(p, find(table, *last));
    value = toml_value(p);
    return value != NULL ? add(p, table, last, value) : -1;
}

int toml_pair(struct toml_parser *p, struct toml *table)
{
    struct keys keys;
    int result = take_keys(p, &keys);

    if (result == 0)
        result = take_value(p, table, &keys);
    free_keys(&keys);
    return result;
}

/* [a.b]: the table, which no other header named. */
static struct toml *named_table(const struct toml_parser *p, struct toml *table, char **key)
{
    struct toml *known = find(table, *key), *made;

    if (known != NULL &&
        (known->kind != TOML_TABLE || known->closed || known->named || known->dotted)) {
        there_already(p, known);
        return NULL;
    }
    made = known != NULL ? known : descend(p, table, key, false);
    if (made != NULL)
        made->named = true;
    return made;
}

/* [[a.b]]: one more table of the array. */
static struct toml *next_table(const struct toml_parser *p, struct toml *table, char **key)
{
    struct toml *array = find(table, *key), *made;

    if (array == NULL) {
        array = toml_make(p, TOML_ARRAY);
        if (array == NULL || add(p, table, key, array) != 0)
            return NULL;
        array->tables = true;
    }
    if (!array->tables) {
        there_already(p, array);
        return NULL;
    }
    made = toml_make(p, TOML_TABLE);
    return made != NULL && toml_append(p, array, made) == 0 ? made : NULL;
}

static struct toml *take_header(struct toml_parser *p, struct toml *root)
{
    bool array = toml_sees(p, "[[", 2);
    struct toml *table = NULL;
    struct keys keys;

    p->at += array ? 2 : 1;
    if (take_keys(p, &keys) == 0) {
        if (!toml_take(p, ']') || (array && !toml_take(p, ']')))
            toml_wrong(p, "%s is missing after the name of a table", array ? "]]" : "]");
        else
            table = descend_all(p, root, &keys, false);
        if (table != NULL)
            table = (array ? next_table : named_table)(p, table, &keys.words[keys.count - 1]);
    }
    free_keys(&keys);
    return table;
}

static int parse_all(struct toml_parser *p, struct toml *root)
{
    struct toml *table = root;

    while (p->at < p->end) {
        if (toml_lines(p) != 0)
            return -1;
        if (p->at == p->end)
            return 0;
        if (*p->at == '[')
            table = take_header(p, root);
        else if (toml_pair(p, table) != 0)
            return -1;
        if (table == NULL || take_line_end(p) != 0)
            return -1;
    }
    return 0;
}

/* Without surrogates, and each character as short as it can be. */
static bool is_utf8(const unsigned char *at, const unsigned char *end)
{
    while (at < end) {
        unsigned int more = *at < 0x80 ? 0 : *at < 0xc2 ? 9 : *at < 0xe0 ? 1 : *at < 0xf0 ? 2 : 3;
        unsigned char first = *at++;

        if (more == 9 || first > 0xf4 || (size_t)(end - at) < more)
            return false;
        if ((first == 0xe0 && *at < 0xa0) || (first == 0xed && *at >= 0xa0) ||
            (first == 0xf0 && *at < 0x90) || (first == 0xf4 && *at >= 0x90))
            return false;
        for (; more != 0; more--)
            if ((*at++ & 0xc0) != 0x80)
                return false;
    }
    return true;
}

struct toml *toml_parse(const char *bytes, size_t count, const char *name,
                        struct run_failure *failure)
{
    struct toml_parser p = {name, bytes, bytes + count, 1, 0, failure};
    struct toml *root;

    if (count > TOML_BYTES_MAX) {
        run_fail_as(failure, 2, "%s: larger than %u bytes; this is no suite", name, TOML_BYTES_MAX);
        return NULL;
    }
    if (memchr(bytes, 0, count) != NULL ||
        !is_utf8((const unsigned char *)bytes, (const unsigned char *)bytes + count)) {
        run_fail_as(failure, 2, "%s: not text in UTF-8", name);
        return NULL;
    }
    root = toml_make(&p, TOML_TABLE);
    if (root != NULL && parse_all(&p, root) == 0)
        return root;
    toml_free(root);
    return NULL;
}

void toml_free(struct toml *value)
{
    if (value == NULL)
        return;
    for (size_t i = 0; i < value->count; i++)
        toml_free(value->items[i]);
    free(value->items);
    free(value->key);
    free(value->text);
    free(value);
}

const char *toml_kind_words(enum toml_kind kind)
{
    static const char *const words[] = {"a string",      "an integer", "a number",
                                        "true or false", "an array",   "a table"};

    return words[kind];
}
