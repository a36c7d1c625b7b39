/* Adds up profiles by the names of functions, which are the same in every run. */
#include "host/sweep/database/sweep_functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/report/profile.h"
#include "lib/hash.h"

#define PLACES_BITS 13
#define OTHERS "(other functions)"
#define OTHER_MARKS "[other marks]"
#define UNKNOWN "(unknown)"

struct function {
    char *name; /* owned */
    char *object; /* owned */
    double *sums; /* one for each event; owned */
};

struct sweep_functions {
    size_t events;
    struct function all[SWEEP_FUNCTIONS_MAX];
    uint32_t index[1u << PLACES_BITS]; /* hash table of numbers + 1 */
    uint32_t count;
};

struct sweep_functions *sweep_functions_make(size_t events)
{
    struct sweep_functions *f = calloc(1, sizeof *f);

    if (f != NULL)
        f->events = events;
    return f;
}

void sweep_functions_free(struct sweep_functions *functions)
{
    for (uint32_t i = 0; functions != NULL && i < functions->count; i++) {
        free(functions->all[i].name);
        free(functions->all[i].object);
        free(functions->all[i].sums);
    }
    free(functions);
}

/* NULL: no memory. */
static struct function *find(struct sweep_functions *f, const char *name, const char *object)
{
    uint64_t hash = hash_bytes(HASH_BYTES_START, name, strlen(name) + 1);
    uint32_t place = hash_place(hash_bytes(hash, object, strlen(object)), PLACES_BITS);
    struct function *made;

    for (; f->index[place] != 0; place = (place + 1) % (1u << PLACES_BITS)) {
        struct function *known = &f->all[f->index[place] - 1];

        if (strcmp(known->name, name) == 0 && strcmp(known->object, object) == 0)
            return known;
    }
    if (f->count == SWEEP_FUNCTIONS_MAX - 1 && strcmp(name, OTHERS) != 0)
        return find(f, OTHERS, "");
    made = &f->all[f->count];
    *made = (struct function){strdup(name), strdup(object), calloc(f->events, sizeof(double))};
    f->index[place] = ++f->count;
    return made->name != NULL && made->object != NULL && made->sums != NULL ? made : NULL;
}

struct sweep_profile {
    struct trace_scan scan;
    struct profile profile;
    struct profile_options options;
    struct sections sections;
    bool open;
};

/* Further names are one. */
static int divide(struct sweep_profile *p, struct report_marks *marks)
{
    struct sections *s = &p->sections;
    int error = marks->count != 0 ? sections_init(s, marks) : 0;

    p->options = (struct profile_options){.by = PLACE_FUNCTION};
    if (error != 0 || marks->count == 0)
        return error;
    p->options.sections = s;
    if (s->text_count <= SWEEP_SECTIONS_MAX)
        return 0;
    s->text_count = SWEEP_SECTIONS_MAX;
    s->texts[SWEEP_SECTIONS_MAX - 1] = OTHER_MARKS;
    for (size_t i = 0; i < s->count; i++)
        if (s->names[i] >= SWEEP_SECTIONS_MAX)
            s->names[i] = SWEEP_SECTIONS_MAX - 1;
    return 0;
}

int sweep_profile_read(struct sweep_profile **profile, const char *path, struct report_marks *marks)
{
    struct sweep_profile *p = *profile = calloc(1, sizeof *p);
    int error = p != NULL ? divide(p, marks) : -ENOMEM;

    if (error == 0)
        error = trace_scan_open(&p->scan, path);

    if (error != 0)
        return error;
    p->open = true;
    p->scan.progress.line.enabled = false;
    p->scan.jobs = 1; /* traces are read side by side */
    return profile_run(&p->profile, &p->scan, &p->options, 1);
}

void sweep_profile_free(struct sweep_profile *profile)
{
    if (profile != NULL && profile->open) {
        profile_free(&profile->profile);
        trace_scan_close(&profile->scan);
    }
    if (profile != NULL)
        sections_free(&profile->sections);
    free(profile);
}

void sweep_profile_sections(const struct sweep_profile *profile, sweep_section_visit *visit,
                            void *context)
{
    const struct profile *p = &profile->profile;
    const struct sections *s = &profile->sections;
    uint64_t sums[SWEEP_SECTIONS_MAX][HR_EVENTS_MAX] = {0};
    uint64_t passes[SWEEP_SECTIONS_MAX] = {0};

    if (s->count == 0)
        return;
    for (uint32_t i = 0; p->ready && i < p->rows.count; i++) {
        const struct row *row = &p->rows.all[i];

        for (uint32_t e = 0; e < p->event_count; e++)
            sums[p->groups.all[row->group].section][e] += row->self.sums[e];
    }
    for (size_t i = 0; i < s->count; i++)
        passes[s->names[i]]++;
    visit(context, s->texts[SECTIONS_BEFORE], 1, sums[SECTIONS_BEFORE]);
    for (size_t i = 0; i < s->count; i++) {
        uint32_t name = s->names[i];

        if (passes[name] != 0)
            visit(context, s->texts[name], passes[name], sums[name]);
        passes[name] = 0; /* it was visited */
    }
}

int sweep_functions_add(struct sweep_functions *functions, const struct sweep_profile *profile,
                        const uint32_t *numbers, uint32_t count)
{
    const struct profile *p = &profile->profile;

    for (uint32_t i = 0; p->ready && i < p->rows.count; i++) {
        const struct row *row = &p->rows.all[i];
        const struct place *place = &p->places.all[row->place];
        struct function *function = find(functions, place->name != NULL ? place->name : UNKNOWN,
                                         place->object != NULL ? place->object : "");

        if (function == NULL)
            return -ENOMEM;
        for (uint32_t e = 0; e < count && e < p->event_count; e++)
            function->sums[numbers[e]] += (double)row->self.sums[e];
    }
    return 0;
}

void sweep_functions_each(const struct sweep_functions *functions, sweep_functions_visit *visit,
                          void *context)
{
    for (uint32_t i = 0; i < functions->count; i++)
        for (uint32_t e = 0; e < functions->events; e++)
            if (functions->all[i].sums[e] != 0)
                visit(context, functions->all[i].name, functions->all[i].object, e,
                      functions->all[i].sums[e]);
}
