/* Reads what sweep.json and jobs.csv say of a sweep. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/array.h"
#include "host/sweep/folder/sweep_folder.h"
#include "lib/array.h"

/* What is wrong with sweep.json; NULL: nothing. */
static const char *read_texts(const json_t *list, char ***texts, size_t *count)
{
    size_t i;
    json_t *item;

    if (!json_is_array(list))
        return "a list is missing";
    json_array_foreach(list, i, item)
    {
        if (!json_is_string(item))
            return "a list has what is no text";
        if (array_append_text(texts, count, json_string_value(item)) != 0)
            return "it is too large for memory";
    }
    return NULL;
}

static const char *read_events(const json_t *list, struct sweep_plan *plan)
{
    size_t i;
    json_t *item;

    json_array_foreach(list, i, item)
    {
        const char *name = json_string_value(json_object_get(item, "name"));
        const char *description = json_string_value(json_object_get(item, "description"));
        struct sweep_event *event;

        if (name == NULL || description == NULL)
            return "an event has no name";
        if (plan->event_count == SWEEP_EVENTS_MAX ||
            array_grow(&plan->events, plan->event_count, sizeof plan->events[0]) != 0)
            return "it is too large for memory";
        event = &plan->events[plan->event_count++];
        *event = (struct sweep_event){.name = strdup(name), .description = strdup(description)};
        if (event->name == NULL || event->description == NULL)
            return "it is too large for memory";
    }
    return NULL;
}

static const char *read_run(const json_t *list, struct sweep_plan *plan)
{
    struct sweep_run run = {0};
    size_t i;
    json_t *item;

    json_array_foreach(list, i, item)
    {
        json_int_t event = json_integer_value(item);

        if (run.count == HR_EVENTS_MAX - 1 || event < 0 || (size_t)event >= plan->event_count)
            return "a run has an event that is not there";
        run.events[run.count++] = (uint32_t)event;
    }
    if (run.count == 0)
        return "a run has no events";
    if (array_grow(&plan->runs, plan->run_count, sizeof plan->runs[0]) != 0)
        return "it is too large for memory";
    plan->runs[plan->run_count++] = run;
    return NULL;
}

static const char *read_job(const json_t *item, struct sweep *sweep)
{
    json_int_t run = json_integer_value(json_array_get(item, 0));
    json_int_t repetition = json_integer_value(json_array_get(item, 1));

    if (run < 0 || (size_t)run >= sweep->plan.run_count || repetition < 0 ||
        (uint64_t)repetition >= sweep->repeat || sweep->job_count == SWEEP_JOBS_MAX)
        return "a job has a run that is not there";
    if (array_grow(&sweep->jobs, sweep->job_count, sizeof sweep->jobs[0]) != 0)
        return "it is too large for memory";
    sweep->jobs[sweep->job_count++] =
        (struct sweep_job){.run = (uint32_t)run, .repetition = (uint32_t)repetition};
    return NULL;
}

static const char *read_lists(const json_t *all, struct sweep *sweep)
{
    const json_t *runs = json_object_get(all, "runs"), *jobs = json_object_get(all, "jobs");
    const char *wrong;
    size_t i;
    json_t *item;

    if ((wrong = read_texts(json_object_get(all, "program"), &sweep->program,
                            &sweep->program_count)) != NULL ||
        (wrong = read_texts(json_object_get(all, "options"), &sweep->options,
                            &sweep->option_count)) != NULL ||
        (wrong = read_events(json_object_get(all, "events"), &sweep->plan)) != NULL)
        return wrong;
    json_array_foreach(runs, i, item)
    {
        if ((wrong = read_run(item, &sweep->plan)) != NULL)
            return wrong;
    }
    if (sweep->plan.run_count * sweep->repeat > SWEEP_JOBS_MAX)
        return "it has too many runs";
    json_array_foreach(jobs, i, item)
    {
        if ((wrong = read_job(item, sweep)) != NULL)
            return wrong;
    }
    return sweep->program_count == 0 ? "it names no program" : NULL;
}

static const char *read_where(const json_t *all, struct sweep *sweep)
{
    struct remote_where *where = &sweep->where;
    const struct {
        const char *key;
        char **to;
    } fields[] = {{"hosts", &where->hosts}, {"slurm", &where->slurm},
                  {"usb", &sweep->usb},     {"usb-options", &sweep->usb_options},
                  {"ssh", &where->ssh},     {"hr", &where->hr}};

    for (size_t i = 0; i < ARRAY_COUNT(fields); i++) {
        const char *text = json_string_value(json_object_get(all, fields[i].key));

        if (text == NULL || *fields[i].to != NULL) /* an option of this command */
            continue;
        *fields[i].to = strdup(text);
        if (*fields[i].to == NULL)
            return "it is too large for memory";
    }
    return NULL;
}

/* The machine that sticks are for, if the sweep has some. */
static const char *read_stick(const json_t *stick, struct sweep *sweep)
{
    const char *cpu = json_string_value(json_object_get(stick, "cpu"));
    struct sweep_machine *m = &sweep->plan.machine;
    const struct {
        const char *key;
        uint32_t *to;
    } numbers[] = {{"id", &sweep->stick},
                   {"stepping", &m->cpu.stepping},
                   {"version", &m->cpu.pmu_version},
                   {"general", &m->general},
                   {"fixed", &m->fixed}};

    if (stick == NULL)
        return NULL;
    if (cpu == NULL || events_cpu_parse(&m->cpu, cpu) != 0)
        return "its processor is not known";
    for (size_t i = 0; i < ARRAY_COUNT(numbers); i++) {
        json_int_t value = json_integer_value(json_object_get(stick, numbers[i].key));

        if (value < 0 || value > UINT32_MAX)
            return "a value is missing or out of range";
        *numbers[i].to = (uint32_t)value;
    }
    m->cpu.fixed_counters = m->fixed != 0 ? 32 - (uint32_t)__builtin_clz(m->fixed) : 0;
    return sweep->stick != 0 ? NULL : "a value is missing or out of range";
}

static const char *read_json(const json_t *all, struct sweep *sweep)
{
    const char *processor = json_string_value(json_object_get(all, "processor"));
    json_int_t repeat = json_integer_value(json_object_get(all, "repeat"));
    json_int_t least = json_integer_value(json_object_get(all, "least"));
    const char *wrong;

    if (json_integer_value(json_object_get(all, "version")) != SWEEP_VERSION)
        return "it is none of hr sweep, or of another version";
    if (repeat < 1 || repeat > SWEEP_REPEAT_MAX || least < 0 || processor == NULL)
        return "a value is missing or out of range";
    sweep->repeat = (uint64_t)repeat;
    sweep->seed = (uint64_t)json_integer_value(json_object_get(all, "seed"));
    if (read_where(json_object_get(all, "where"), sweep) != NULL)
        return "it is too large for memory";
    wrong = read_stick(json_object_get(all, "stick"), sweep);
    if (wrong != NULL)
        return wrong;
    sweep->plan.least = (size_t)least;
    snprintf(sweep->plan.machine.processor, sizeof sweep->plan.machine.processor, "%s", processor);
    return read_lists(all, sweep);
}

/* The job of a line, by an index that has the job's number plus 1 at each run and repetition. */
static struct sweep_job *find_job(struct sweep *sweep, const uint32_t *index, uint32_t run,
                                  uint32_t repetition)
{
    uint32_t number;

    if (run == SWEEP_FIRST)
        return &sweep->first;
    if (run >= sweep->plan.run_count || repetition >= sweep->repeat)
        return NULL;
    number = index[run * sweep->repeat + repetition];
    return number != 0 ? &sweep->jobs[number - 1] : NULL;
}

static uint32_t *make_index(const struct sweep *sweep)
{
    uint32_t *index = calloc(sweep->plan.run_count * sweep->repeat + 1, sizeof index[0]);

    for (size_t i = 0; i < sweep->job_count && index != NULL; i++)
        index[sweep->jobs[i].run * sweep->repeat + sweep->jobs[i].repetition] = (uint32_t)i + 1;
    return index;
}

/* A line that is not whole was interrupted: its job waits.  The last line about a job counts. */
static void read_lines(struct sweep *sweep, const uint32_t *index, FILE *file)
{
    char line[256], path[SWEEP_PATH_BYTES], host[REMOTE_HOST_BYTES];
    struct sweep_job read;
    int state;

    while (fgets(line, sizeof line, file) != NULL) {
        struct sweep_job *job;

        host[0] = 0;
        if (sscanf(line, "%" SCNu32 ",%" SCNu32 ",%d,%d,%" SCNu64 ",%" SCNx32 ",%63[^,\n]",
                   &read.run, &read.repetition, &state, &read.status, &read.output.bytes,
                   &read.output.crc32c, host) < 6 ||
            strchr(line, '\n') == NULL ||
            (job = find_job(sweep, index, read.run, read.repetition)) == NULL)
            continue;
        job->state = SWEEP_WAITS;
        if (state == SWEEP_FAILED && job != &sweep->first && sweep->plan.runs[job->run].count > 1)
            job->state = SWEEP_FAILED;
        if (state == SWEEP_DONE && access(sweep_job_path(sweep, job, SWEEP_TRACE, path), R_OK) == 0)
            job->state = SWEEP_DONE;
        job->status = read.status;
        job->output = read.output;
        job->remote.host = remote_machines_find(&sweep->machines, host);
    }
}

int sweep_folder_load(struct sweep *sweep, struct run_failure *failure)
{
    char path[SWEEP_PATH_BYTES];
    json_error_t error;
    json_t *all = json_load_file(sweep_path(sweep, "sweep.json", path), 0, &error);
    const char *wrong = all != NULL ? read_json(all, sweep) : error.text;
    uint32_t *index;
    FILE *file;

    json_decref(all);
    if (wrong != NULL)
        return run_fail(failure, "%s: %s; name the folder of a sweep ('hr sweep -o FOLDER ...')",
                        path, wrong);
    remote_machines_read(&sweep->machines, sweep_path(sweep, REMOTE_MACHINES, path));
    file = fopen(sweep_path(sweep, "jobs.csv", path), "re");
    index = make_index(sweep);
    if (file != NULL && index != NULL)
        read_lines(sweep, index, file);
    if (file != NULL)
        fclose(file);
    free(index);
    return index != NULL ? 0 : run_fail(failure, "out of memory; end other programs");
}
