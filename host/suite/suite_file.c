/* Reads microtome.toml: which keys there are, and what they may hold. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"
#include "host/base/nearest.h"
#include "host/base/text.h"
#include "host/base/units.h"
#include "host/suite/suite_reading.h"

#define EXIT_STATUS_MAX 255

/* ---- the keys of a benchmark */

static int take_name(struct suite_reading *r, const struct toml *value, struct suite_benchmark *b)
{
    if (suite_reading_keep(r, value, &b->name) != 0)
        return -1;
    if (!suite_is_name(b->name))
        return suite_reading_wrong(
            r, value, "a name has at most %u letters, digits and . _ -: it is also a file's",
            SUITE_NAME_BYTES);
    return 0;
}

static int take_command(struct suite_reading *r, const struct toml *value,
                        struct suite_benchmark *b)
{
    if (value->kind != TOML_ARRAY || value->count == 0)
        return suite_reading_wrong_kind(r, value, "an array: [\"PROGRAM\", \"ARGUMENT\"]");
    return suite_reading_each(r, value, "a string", &b->command);
}

static int take_input(struct suite_reading *r, const struct toml *value, struct suite_benchmark *b)
{
    return suite_reading_keep(r, value, &b->input);
}

static int take_directory(struct suite_reading *r, const struct toml *value,
                          struct suite_benchmark *b)
{
    return suite_reading_keep(r, value, &b->directory);
}

static int take_files(struct suite_reading *r, const struct toml *value, struct suite_benchmark *)
{
    r->files = value;
    return 0;
}

static int take_environment(struct suite_reading *r, const struct toml *value,
                            struct suite_benchmark *)
{
    if (value->kind != TOML_TABLE)
        return suite_reading_wrong_kind(r, value, "a table: { NAME = \"value\" }");
    r->environments[1] = value;
    return 0;
}

static int take_events(struct suite_reading *r, const struct toml *value, struct suite_benchmark *)
{
    struct suite_texts texts = {0};
    size_t bytes = 1;
    int result = suite_reading_each(r, value, "names of events", &texts);

    for (size_t i = 0; i < texts.count; i++)
        bytes += strlen(texts.list[i]) + 1;
    free(r->events);
    r->events = calloc(1, bytes);
    for (size_t i = 0; i < texts.count && r->events != NULL; i++) {
        strcat(r->events, i != 0 ? "," : "");
        strcat(r->events, texts.list[i]);
    }
    suite_texts_free(&texts);
    return result != 0 || r->events != NULL ? result : suite_reading_no_memory(r);
}

static int take_mode(struct suite_reading *r, const struct toml *value, struct suite_benchmark *)
{
    return suite_reading_text(r, value, &r->mode);
}

static int take_options(struct suite_reading *r, const struct toml *value, struct suite_benchmark *)
{
    bool array = value->kind == TOML_ARRAY;
    char text[80];

    r->options = value;
    for (size_t i = 0; i < (array ? value->count : 1); i++) {
        const struct toml *item = array ? value->items[i] : value;

        if (item->kind != TOML_STRING)
            return suite_reading_wrong_kind(r, item, "options of hr run");
        text_escape(text, sizeof text, item->text);
        if (item->text[0] != '-' || strcmp(item->text, "--") == 0)
            return suite_reading_wrong(r, item,
                                       "'%s' is no option of hr run; write \"--NAME=VALUE\"", text);
        if (strncmp(item->text, "-o", 2) == 0 || strncmp(item->text, "--o", 3) == 0)
            return suite_reading_wrong(
                r, item, "'%s': the suite itself names the trace; leave it out", text);
    }
    return 0;
}

static int take_timeout(struct suite_reading *r, const struct toml *value, struct suite_benchmark *)
{
    uint64_t ns;

    if (suite_reading_text(r, value, &r->timeout) != 0)
        return -1;
    return units_parse_time(r->timeout, UNITS_NEEDED, &ns) == 0
               ? 0
               : suite_reading_wrong(r, value, "timeout is no time; write \"30s\" or \"5m\"");
}

static int take_exit_status(struct suite_reading *r, const struct toml *value,
                            struct suite_benchmark *b)
{
    if (value->kind != TOML_INTEGER || value->integer < 0 || value->integer > EXIT_STATUS_MAX)
        return suite_reading_wrong(r, value, "exit_status must be a number from 0 to %d",
                                   EXIT_STATUS_MAX);
    b->exit_status = (int)value->integer;
    return 0;
}

static int take_runs(struct suite_reading *r, const struct toml *value, int64_t least,
                     uint32_t *runs)
{
    if (value->kind != TOML_INTEGER || value->integer < least || value->integer > SUITE_REPEAT_MAX)
        return suite_reading_wrong(r, value, "%s must be a number from %d to %u", value->key,
                                   (int)least, SUITE_REPEAT_MAX);
    *runs = (uint32_t)value->integer;
    return 0;
}

static int take_repeat(struct suite_reading *r, const struct toml *value, struct suite_benchmark *b)
{
    return take_runs(r, value, 1, &b->repeat);
}

static int take_warm_up(struct suite_reading *r, const struct toml *value,
                        struct suite_benchmark *b)
{
    return take_runs(r, value, 0, &b->warm_up);
}

static int take_tags(struct suite_reading *r, const struct toml *value, struct suite_benchmark *b)
{
    suite_texts_free(&b->tags);
    return suite_reading_each(r, value, "names of tags", &b->tags);
}

static int take_own_limits(struct suite_reading *r, const struct toml *value,
                           struct suite_benchmark *b)
{
    return suite_reading_limits(r, value, NULL, &b->limits);
}

static int take_own_functions(struct suite_reading *r, const struct toml *value,
                              struct suite_benchmark *b)
{
    return suite_reading_functions(r, value, &b->limits);
}

static const struct key {
    const char *name;
    int (*take)(struct suite_reading *r, const struct toml *value, struct suite_benchmark *b);
    bool own; /* no default for all */
} keys[] = {
    {"name", take_name, true},
    {"command", take_command, true},
    {"stdin", take_input, false},
    {"files", take_files, false},
    {"directory", take_directory, false},
    {"environment", take_environment, false},
    {"events", take_events, false},
    {"mode", take_mode, false},
    {"options", take_options, false},
    {"timeout", take_timeout, false},
    {"exit_status", take_exit_status, false},
    {"repeat", take_repeat, false},
    {"warmup", take_warm_up, false},
    {"tags", take_tags, false},
    {"limits", take_own_limits, false},
    {"functions", take_own_functions, false},
};

#define KEY_COUNT (sizeof keys / sizeof keys[0])

static int unknown_key(const struct suite_reading *r, const struct toml *value, const char *where,
                       const char *const *names, size_t count)
{
    struct nearest nearest;
    char list[256], key[80];

    nearest_init(&nearest, value->key);
    for (size_t i = 0; i < count; i++)
        nearest_offer(&nearest, names[i]);
    text_escape(key, sizeof key, value->key);
    if (nearest.count != 0)
        return suite_reading_wrong(r, value, "there is no key '%s' in %s; near: %s", key, where,
                                   nearest_list(&nearest, list, sizeof list));
    list[0] = 0;
    for (size_t i = 0; i < count; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i != 0 ? ", " : "",
                 names[i]);
    return suite_reading_wrong(r, value, "there is no key '%s' in %s, but: %s", key, where, list);
}

static int take_keys(struct suite_reading *r, const struct toml *table, struct suite_benchmark *b,
                     bool own)
{
    const char *names[KEY_COUNT];
    size_t count = 0;

    for (size_t i = 0; i < KEY_COUNT; i++)
        if (own || !keys[i].own)
            names[count++] = keys[i].name;
    for (size_t i = 0; i < table->count; i++) {
        const struct toml *value = table->items[i];
        size_t k = 0;

        while (k < KEY_COUNT && (strcmp(keys[k].name, value->key) != 0 || (keys[k].own && !own)))
            k++;
        if (k == KEY_COUNT)
            return unknown_key(r, value, own ? "[[benchmark]]" : "[default]", names, count);
        if (keys[k].take(r, value, b) != 0)
            return -1;
    }
    return 0;
}

/* ---- options of hr run, of all that was given */

static int add_option(const struct suite_reading *r, struct suite_benchmark *b, const char *name,
                      const char *value)
{
    char *text = NULL;
    int result = -1;

    if (asprintf(&text, "%s%s", name, value) < 0)
        return suite_reading_no_memory(r);
    result = array_append_text(&b->options.list, &b->options.count, text);
    free(text);
    return result == 0 ? 0 : suite_reading_no_memory(r);
}

static int add_environment(const struct suite_reading *r, struct suite_benchmark *b,
                           const struct toml *table)
{
    char *setting = NULL;
    int result = 0;

    for (size_t i = 0; table != NULL && i < table->count && result == 0; i++) {
        const struct toml *value = table->items[i];

        if (value->kind != TOML_STRING)
            return suite_reading_wrong_kind(r, value, "a string");
        if (value->key[0] == 0 || strchr(value->key, '=') != NULL)
            return suite_reading_wrong(r, value, "no name of a variable of the environment");
        if (asprintf(&setting, "%s=%s", value->key, value->text) < 0)
            return suite_reading_no_memory(r);
        result = add_option(r, b, "--env=", setting);
        free(setting);
    }
    return result;
}

static int add_options(const struct suite_reading *r, struct suite_benchmark *b)
{
    struct suite_texts texts = {0};
    int result = add_option(r, b, "--mode=", r->mode);

    if (result == 0)
        result = add_option(r, b, "--timeout=", r->timeout);
    if (result == 0 && r->events != NULL)
        result = add_option(r, b, "--event=", r->events);
    for (size_t i = 0; i < 2 && result == 0; i++)
        result = add_environment(r, b, r->environments[i]);
    if (result == 0 && r->files != NULL)
        result = suite_reading_each(r, r->files, "names of files", &texts);
    for (size_t i = 0; i < texts.count && result == 0; i++)
        result = add_option(r, b, "--file=", texts.list[i]);
    suite_texts_free(&texts);
    if (result == 0 && r->options != NULL)
        result = suite_reading_each(r, r->options, "options of hr run", &b->options);
    return result;
}

/* The last benchmark has a name of its own, and a command. */
static int check_named(const struct suite_reading *r, const struct toml *table,
                       const struct suite *suite)
{
    const struct suite_benchmark *b = &suite->benchmarks[suite->benchmark_count - 1];

    if (b->name == NULL || b->command.count == 0)
        return suite_reading_wrong(r, table, "a [[benchmark]] needs a %s",
                                   b->name == NULL ? "name"
                                                   : "command: [\"PROGRAM\", \"ARGUMENT\"]");
    for (size_t i = 0; i + 1 < suite->benchmark_count; i++)
        if (strcmp(suite->benchmarks[i].name, b->name) == 0)
            return suite_reading_wrong(r, table, "there is a benchmark '%s' already", b->name);
    return 0;
}

static int take_benchmark(const struct suite_reading *defaults, const struct toml *default_table,
                          const struct toml *table, struct suite *suite)
{
    struct suite_benchmark *b = &suite->benchmarks[suite->benchmark_count++];
    struct suite_reading r = *defaults;
    int result;

    *b = (struct suite_benchmark){0};
    r.environments[0] = r.environments[1] = NULL;
    result = default_table != NULL ? take_keys(&r, default_table, b, false) : 0;
    r.environments[0] = r.environments[1];
    r.environments[1] = NULL;
    if (result == 0)
        result = take_keys(&r, table, b, true);
    if (result == 0)
        result = check_named(&r, table, suite);
    for (size_t i = 0; result == 0 && i < b->limits.count; i++)
        if (b->limits.list[i].function != NULL && strcmp(r.mode, "exact") != 0)
            result = suite_reading_wrong(&r, table, "limits of functions need mode = \"exact\"");
    if (result == 0)
        result = add_options(&r, b);
    free(r.events);
    return result;
}

static int take_benchmarks(const struct suite_reading *r, const struct toml *root,
                           struct suite *suite)
{
    const struct toml *defaults = toml_find(root, "default"), *all = toml_find(root, "benchmark");
    int result = 0;

    if (defaults != NULL && defaults->kind != TOML_TABLE)
        return suite_reading_wrong_kind(r, defaults, "a table: [default]");
    if (all == NULL)
        return suite_reading_wrong(r, root, "there is no [[benchmark]]");
    if (all->kind != TOML_ARRAY || all->count == 0)
        return suite_reading_wrong_kind(r, all, "tables: [[benchmark]]");
    if (all->count > SUITE_BENCHMARKS_MAX)
        return suite_reading_wrong(r, all, "more than %u benchmarks", SUITE_BENCHMARKS_MAX);
    suite->benchmarks = calloc(all->count, sizeof suite->benchmarks[0]);
    if (suite->benchmarks == NULL)
        return suite_reading_no_memory(r);
    for (size_t i = 0; i < all->count && result == 0; i++)
        result = all->items[i]->kind == TOML_TABLE
                     ? take_benchmark(r, defaults, all->items[i], suite)
                     : suite_reading_wrong_kind(r, all->items[i], "a table: [[benchmark]]");
    return result;
}

static int take_all(const struct suite_reading *r, const struct toml *root, struct suite *suite)
{
    static const char *const names[] = {"name", "default", "benchmark"};
    const struct toml *name = toml_find(root, "name");

    for (size_t i = 0; i < root->count; i++) {
        size_t k = 0;

        while (k < 3 && strcmp(names[k], root->items[i]->key) != 0)
            k++;
        if (k == 3)
            return unknown_key(r, root->items[i], "the file", names, 3);
    }
    if (name != NULL && suite_reading_keep(r, name, &suite->name) != 0)
        return -1;
    if (suite->name == NULL)
        suite->name = strdup("benchmarks");
    return suite->name != NULL ? take_benchmarks(r, root, suite) : suite_reading_no_memory(r);
}

int suite_parse(struct suite *suite, const char *path, const char *bytes, size_t count,
                struct run_failure *failure)
{
    const struct suite_reading r = {
        .path = path, .failure = failure, .mode = "exact", .timeout = SUITE_TIMEOUT_DEFAULT};
    struct toml *root = toml_parse(bytes, count, path, failure);
    int result = root != NULL ? take_all(&r, root, suite) : -1;

    toml_free(root);
    return result;
}
