/* Gathers and compares facts about runs. */
#include "host/diff/diff_facts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"
#include "host/base/text.h"
#include "host/machine/machine_diff.h"

#define FEATURES "CPU features" /* a list of words */
#define BUILD_ID_BYTES 6u /* of a build-id, shown */
#define VALUE_BYTES 160

int diff_facts_add(struct diff_facts *facts, const char *label, const char *value)
{
    struct diff_fact fact;

    if (facts->count == DIFF_FACTS_MAX)
        return -E2BIG;
    fact = (struct diff_fact){strdup(label), strdup(value)};
    if (fact.label == NULL || fact.value == NULL ||
        array_grow(&facts->list, facts->count, sizeof facts->list[0]) != 0) {
        free(fact.label);
        free(fact.value);
        return -ENOMEM;
    }
    facts->list[facts->count++] = fact;
    return 0;
}

void diff_facts_free(struct diff_facts *facts)
{
    for (size_t i = 0; i < facts->count; i++) {
        free(facts->list[i].label);
        free(facts->list[i].value);
    }
    free(facts->list);
    *facts = (struct diff_facts){0};
}

const char *diff_facts_find(const struct diff_facts *facts, const char *label)
{
    for (size_t i = 0; i < facts->count; i++)
        if (strcmp(facts->list[i].label, label) == 0)
            return facts->list[i].value;
    return NULL;
}

static int add_bytes(struct diff_facts *facts, const char *label, const char *text)
{
    char value[32];

    if (text == NULL)
        return 0;
    snprintf(value, sizeof value, "%zu bytes", strlen(text));
    return diff_facts_add(facts, label, value);
}

/* The program's libraries, by the names of their files. */
static int add_libraries(struct diff_facts *facts, const struct trace_info *info)
{
    const char *program = trace_info_text(info, "program.path", "");
    int error = 0;

    for (size_t i = 0; i < info->map_count && error == 0; i++) {
        const struct trace_map *map = &info->maps[i];
        const char *name = map->path != NULL ? text_base_name(map->path) : "";
        char id[2 * BUILD_ID_BYTES + 1] = "";

        if ((map->meta.flags & HR_MAP_KERNEL) != 0 || map->path == NULL ||
            strcmp(map->path, program) == 0 || strcmp(name, "vdso.so") == 0 ||
            map->meta.build_id_bytes == 0 || diff_facts_find(facts, name) != NULL)
            continue;
        for (size_t b = 0; b < BUILD_ID_BYTES && b < map->meta.build_id_bytes; b++)
            snprintf(id + 2 * b, 3, "%02x", map->build_id[b]);
        error = diff_facts_add(facts, name, id);
    }
    return error == -E2BIG ? 0 : error;
}

int diff_facts_gather(struct diff_facts *facts, const struct trace_info *info)
{
    static const char *const texts[][2] = {
        {"machine", "machine.model"},
        {"Microtome", "kernel.version"},
        {"counters", "pmu.driver"},
        {FEATURES, "machine.features"},
        {DIFF_FACTS_PROGRAM, "program.build_id"},
        {"bytes of the environment", "program.environment_bytes"},
    };
    char value[TEXT_QUANTITY_BYTES];
    int error = 0;

    *facts = (struct diff_facts){0};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0] && error == 0; i++) {
        const char *text = trace_info_text(info, texts[i][1], NULL);

        error = text != NULL ? diff_facts_add(facts, texts[i][0], text) : 0;
    }
    if (error == 0)
        error = diff_facts_add(facts, "mode", trace_info_mode(info->sampling.mode));
    if (error == 0)
        error = diff_facts_add(facts, "interval",
                               text_time(value, (double)trace_info_interval_ns(info)));
    if (error == 0)
        error = add_bytes(facts, "length of the path", trace_info_text(info, "program.path", NULL));
    if (error == 0)
        error = add_bytes(facts, "length of the arguments",
                          trace_info_text(info, "program.args", NULL));
    return error == 0 ? add_libraries(facts, info) : error;
}

static void append(char words[DIFF_FACTS_BYTES], const char *label, const char *before,
                   const char *after)
{
    size_t used = strlen(words);
    char safe[3][VALUE_BYTES];
    int bytes = snprintf(words + used, DIFF_FACTS_BYTES - used, "%s%s (%s, %s)",
                         used != 0 ? "; " : "", text_escape(safe[0], VALUE_BYTES, label),
                         text_escape(safe[1], VALUE_BYTES, before),
                         text_escape(safe[2], VALUE_BYTES, after));

    if (used + (size_t)bytes >= DIFF_FACTS_BYTES)
        words[used] = 0;
}

static void append_fact(char words[DIFF_FACTS_BYTES], const char *label, const char *before,
                        const char *after)
{
    char less[MACHINE_DIFF_BYTES], more[MACHINE_DIFF_BYTES];

    if ((before != NULL && after != NULL && strcmp(before, after) == 0) ||
        strcmp(label, DIFF_FACTS_PROGRAM) == 0)
        return;
    if (before == NULL || after == NULL || strcmp(label, FEATURES) != 0) {
        append(words, label, before != NULL ? before : "unknown",
               after != NULL ? after : "unknown");
        return;
    }
    machine_diff_words(less, before, after);
    machine_diff_words(more, after, before);
    append(words, label, less[0] != 0 ? less : "no more", more[0] != 0 ? more : "no more");
}

char *diff_facts_compare(const struct diff_facts *before, const struct diff_facts *after,
                         char words[DIFF_FACTS_BYTES])
{
    words[0] = 0;
    for (size_t i = 0; i < before->count; i++)
        append_fact(words, before->list[i].label, before->list[i].value,
                    diff_facts_find(after, before->list[i].label));
    for (size_t i = 0; i < after->count; i++)
        if (diff_facts_find(before, after->list[i].label) == NULL)
            append_fact(words, after->list[i].label, NULL, after->list[i].value);
    return words;
}
