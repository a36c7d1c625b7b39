/* Says what the longest of many do with their time. */
#include <stdlib.h>
#include <string.h>

#include "host/base/text.h"
#include "host/draw/columns.h"
#include "host/latency/latency_print_waits.h"
#include "host/latency/latency_waits.h"

#define PARTS_SHOWN 4u
#define LEAST_SHARE 0.03 /* of the time, which is shown */

struct part { /* of the time of a tail */
    bool computes;
    char what[WAIT_NAME_BYTES]; /* "waiting for cache_lock" */
    uint64_t ticks;
    const struct latency_blame *most; /* for whom most of it was; NULL: no wait */
    uint64_t most_ticks;
    uint32_t threads; /* for which it was, when these were in the same function */
};

struct parts {
    struct part all[LATENCY_BLAMES_MAX + LATENCY_SPENT + 1];
    uint32_t count;
};

static struct part *part_of(struct parts *parts, const char *what)
{
    struct part *part;

    for (uint32_t i = 0; i < parts->count; i++)
        if (strcmp(parts->all[i].what, what) == 0)
            return &parts->all[i];
    part = &parts->all[parts->count++];
    snprintf(part->what, sizeof part->what, "%s", what);
    return part;
}

static bool same_function(const struct latency_blame *a, const struct latency_blame *b)
{
    return a->wait.holder.function == b->wait.holder.function &&
           (a->wait.holder.tid != 0) == (b->wait.holder.tid != 0);
}

/* Adds waits, and who was in the function for which they were: one thread, or several. */
static void add_blame(struct parts *parts, const struct latency_tail *tail, const char *what,
                      const struct latency_blame *blame)
{
    struct part *part = part_of(parts, what);
    uint64_t ticks = 0;
    uint32_t threads = 0;

    part->ticks += blame->ticks;
    for (uint32_t i = 0; i < tail->blame_count; i++) {
        const struct latency_blame *other = &tail->blames[i];

        if (other->wait.address != blame->wait.address ||
            other->wait.number != blame->wait.number || !same_function(other, blame))
            continue;
        ticks += other->ticks;
        threads++;
    }
    if (part->most != NULL && ticks < part->most_ticks)
        return;
    if (part->most == NULL || ticks > part->most_ticks || blame->ticks > part->most->ticks)
        part->most = blame;
    part->most_ticks = ticks;
    part->threads = threads;
}

static void add_plain(struct parts *parts, const char *what, uint64_t ticks)
{
    if (ticks != 0)
        part_of(parts, what)->ticks += ticks;
}

static int largest_first(const void *a, const void *b)
{
    const struct part *x = a, *y = b;

    if (x->ticks != y->ticks)
        return x->ticks > y->ticks ? -1 : 1;
    return strcmp(x->what, y->what);
}

/* Splits the time of a tail; what no wait explains is of its kind. */
static struct parts *split(const struct latency_print *p, const struct latency_tail *tail)
{
    struct parts *parts = calloc(1, sizeof *parts);
    uint64_t rest[LATENCY_SPENT];
    char room[WAIT_NAME_BYTES], what[WAIT_NAME_BYTES];

    if (parts == NULL)
        return NULL;
    memcpy(rest, tail->spent, sizeof rest);
    for (uint32_t i = 0; i < tail->blame_count; i++) {
        const struct latency_blame *blame = &tail->blames[i];
        uint64_t *of = &rest[blame->wait.spent];

        snprintf(what, sizeof what, "waiting %.*s", (int)sizeof what - 16,
                 latency_print_wait(p, &blame->wait, room));
        add_blame(parts, tail, what, blame);
        *of -= blame->ticks < *of ? blame->ticks : *of;
    }
    for (uint32_t i = LATENCY_ON_CPU + 1; i < LATENCY_SPENT; i++) {
        snprintf(what, sizeof what, "waiting %s", latency_waits_after[i]);
        add_plain(parts, what, rest[i]);
    }
    add_plain(parts, "on CPU", rest[LATENCY_ON_CPU]);
    if (tail->spent[LATENCY_ON_CPU] != 0)
        part_of(parts, "on CPU")->computes = true;
    add_plain(parts, "queued, without a thread", tail->queued);
    qsort(parts->all, parts->count, sizeof parts->all[0], largest_first);
    return parts;
}

/* Writes ", 102.3 us of it in evict": in which function the calls computed most, if it is another.
 */
static void put_function(const struct latency_print *p, const struct latency_tail *tail,
                         uint32_t own, char room[LATENCY_HOLDER_BYTES])
{
    const struct latency_function *most = NULL;
    char time[TEXT_QUANTITY_BYTES], name[128], *function;

    for (uint32_t i = 0; i < tail->functions.count; i++)
        if (most == NULL || tail->functions.all[i].ticks > most->ticks)
            most = &tail->functions.all[i];
    room[0] = 0;
    if (most == NULL || most->function == own)
        return;
    function = latency_print_name(p, most->function);
    snprintf(room, LATENCY_HOLDER_BYTES, ", %s of it in %s",
             text_time(time, (double)trace_info_ns(p->info, most->ticks)),
             text_escape(name, sizeof name, function != NULL ? function : ""));
    free(function);
}

/* Adds one part to the text. */
static size_t put_part(const struct latency_print *p, const struct latency_tail *tail, uint32_t own,
                       const struct part *part, char *text, size_t room)
{
    char time[TEXT_QUANTITY_BYTES], holder[LATENCY_HOLDER_BYTES] = "";
    struct latency_wait wait;
    int used;

    if (part->most != NULL) {
        wait = part->most->wait;
        wait.holder.works = false;
        latency_print_holder(p, &wait, holder);
    }
    if (part->computes)
        put_function(p, tail, own, holder);
    text_time(time, (double)trace_info_ns(p->info, part->ticks));
    if (part->threads > 1 && holder[0] != 0)
        used = snprintf(text, room, "%s %s%s and %u more", time, part->what, holder,
                        part->threads - 1);
    else
        used = snprintf(text, room, "%s %s%s", time, part->what, holder);
    return (size_t)used < room ? (size_t)used : room - 1;
}

void latency_print_tail(FILE *out, const struct latency_print *p, const struct latency_tail *tail,
                        uint32_t own, const char *what, const char *noun)
{
    struct parts *parts = split(p, tail);
    char text[4 * (WAIT_NAME_BYTES + LATENCY_HOLDER_BYTES + 64)], calls[TEXT_QUANTITY_BYTES];
    char all[TEXT_QUANTITY_BYTES];
    size_t used = 0;

    if (parts == NULL || tail->calls == 0) {
        free(parts);
        return;
    }
    text[0] = 0;
    for (uint32_t i = 0; i < parts->count && i < PARTS_SHOWN; i++) {
        const struct part *part = &parts->all[i];

        if (i != 0 && (double)part->ticks < LEAST_SHARE * (double)tail->ticks)
            break;
        if (i != 0)
            used += (size_t)snprintf(text + used, sizeof text - used, "; ");
        used += put_part(p, tail, own, part, text + used, sizeof text - used);
    }
    columns_note(out, p->columns, "%s: the %s%s%s%s%s%s took %s: %s", what,
                 tail->calls != 1 ? text_count(calls, tail->calls) : "",
                 tail->calls != 1 ? " " : "", tail->longest ? "longest " : "", noun,
                 tail->calls != 1 ? "s" : "", tail->longest ? "" : " above p99",
                 text_time(all, (double)trace_info_ns(p->info, tail->ticks)), text);
    free(parts);
}

static void json_functions(struct output *out, const struct latency_print *p,
                           const struct latency_tail *tail)
{
    output_text(out, ", \"functions\": [");
    for (uint32_t i = 0; i < tail->functions.count; i++) {
        char *name = latency_print_name(p, tail->functions.all[i].function);

        output_text(out, i != 0 ? ", " : "");
        output_json_print(out, "{\"function\": %s, \"ns\": %lu}", name,
                          trace_info_ns(p->info, tail->functions.all[i].ticks));
        free(name);
    }
    output_char(out, ']');
}

void latency_print_tail_json(struct output *out, const struct latency_print *p,
                             const struct latency_tail *tail)
{
    struct parts *parts = split(p, tail);

    output_json_print(out, "{\"above_ns\": %lu, \"calls\": %lu, \"total_ns\": %lu, \"parts\": [",
                      trace_info_ns(p->info, tail->above), tail->calls,
                      trace_info_ns(p->info, tail->ticks));
    for (uint32_t i = 0; parts != NULL && i < parts->count; i++) {
        const struct part *part = &parts->all[i];

        output_text(out, i != 0 ? ", " : "");
        output_json_print(out, "{\"what\": %s, \"ns\": %lu", part->what,
                          trace_info_ns(p->info, part->ticks));
        if (part->most != NULL) {
            output_json_print(out, ", \"kind\": %s", latency_waits_names[part->most->wait.spent]);
            latency_print_wait_json(out, p, &part->most->wait);
        }
        if (part->computes)
            json_functions(out, p, tail);
        output_char(out, '}');
    }
    output_text(out, "]}");
    free(parts);
}
