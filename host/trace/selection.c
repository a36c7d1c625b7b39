/* Parses the selected part of a trace, and tells what belongs to it. */
#include "host/trace/selection.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/option.h"

enum { KEY_FROM = 0x1000, KEY_TO, KEY_CPU, KEY_PID, KEY_THREAD };

#define NUMBERS_MAX 65536u /* of one list */

void selection_init(struct selection *selection)
{
    *selection = (struct selection){.to_ns = UINT64_MAX};
}

void selection_free(struct selection *selection)
{
    free(selection->cpus);
    free(selection->threads);
    free(selection->pids);
    selection_init(selection);
}

static int copy_list(uint32_t **to, const uint32_t *from, uint32_t count)
{
    *to = NULL;
    if (from == NULL)
        return 0;
    *to = malloc(count * sizeof from[0]);
    if (*to == NULL)
        return -ENOMEM;
    memcpy(*to, from, count * sizeof from[0]);
    return 0;
}

int selection_copy(struct selection *to, const struct selection *from)
{
    int error;

    *to = *from;
    to->threads = to->pids = NULL;
    error = copy_list(&to->cpus, from->cpus, from->cpu_count);
    if (error == 0)
        error = copy_list(&to->threads, from->threads, from->thread_count);
    if (error == 0)
        error = copy_list(&to->pids, from->pids, from->pid_count);
    if (error != 0)
        selection_free(to);
    return error;
}

bool selection_is_all(const struct selection *selection)
{
    return selection->from_ns == 0 && selection->to_ns == UINT64_MAX && selection->cpus == NULL &&
           selection->threads == NULL && selection->pids == NULL;
}

static bool has(const uint32_t *numbers, uint32_t count, uint32_t number)
{
    for (uint32_t i = 0; i < count; i++)
        if (numbers[i] == number)
            return true;
    return numbers == NULL;
}

bool selection_has_cpu(const struct selection *selection, uint32_t cpu)
{
    return has(selection->cpus, selection->cpu_count, cpu);
}

bool selection_has_pid(const struct selection *selection, uint32_t pid)
{
    return has(selection->pids, selection->pid_count, pid);
}

bool selection_has_thread(const struct selection *selection, uint32_t tid)
{
    return has(selection->threads, selection->thread_count, tid);
}

/* Parses "A", or "A-B" with A <= B.  Returns what follows it, or NULL if it is neither. */
static const char *parse_range(const char *text, uint64_t *first, uint64_t *last)
{
    char *end;

    errno = 0;
    if (!isdigit((unsigned char)*text))
        return NULL;
    *first = *last = strtoull(text, &end, 10);
    if (*end == '-' && isdigit((unsigned char)end[1]))
        *last = strtoull(end + 1, &end, 10);
    return errno == 0 && *first <= *last && *last <= UINT32_MAX ? end : NULL;
}

/* Appends numbers and ranges, separated by commas, to those of earlier options. */
static int parse_list(const char *text, uint32_t **numbers, uint32_t *count)
{
    uint64_t first, last;

    while ((text = parse_range(text, &first, &last)) != NULL) {
        uint32_t *more;

        if (last - first >= NUMBERS_MAX - *count)
            return -E2BIG;
        more = reallocarray(*numbers, *count + (size_t)(last - first) + 1, sizeof *more);
        if (more == NULL)
            return -ENOMEM;
        *numbers = more;
        for (uint64_t i = first; i <= last; i++)
            more[(*count)++] = (uint32_t)i;
        if (*text == 0)
            return 0;
        if (*text++ != ',')
            return -EINVAL;
    }
    return -EINVAL;
}

static void take_list(const char *option, const char *text, uint32_t **numbers, uint32_t *count,
                      const struct argp_state *state)
{
    int error = parse_list(text, numbers, count);

    if (error == -EINVAL)
        argp_error(state, "--%s %s: not a list of numbers; write 1, 0-3 or 1,5", option, text);
    else if (error != 0)
        argp_error(state, "--%s %s: %s; name fewer", option, text, strerror(-error));
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    static const struct option_field fields[] = {
        {KEY_FROM, OPTION_TIME, .offset = offsetof(struct selection, from_ns), "from",
         "not a time; give it with a unit, such as 500us"},
        {KEY_TO, OPTION_TIME, .offset = offsetof(struct selection, to_ns), "to",
         "not a time; give it with a unit, such as 500us"},
        {0},
    };
    struct selection *selection = state->input;

    if (option_store(fields, key, argument, selection, state))
        return 0;
    switch (key) {
    case KEY_CPU:
        take_list("cpu", argument, &selection->cpus, &selection->cpu_count, state);
        return 0;
    case KEY_PID:
        take_list("pid", argument, &selection->pids, &selection->pid_count, state);
        return 0;
    case KEY_THREAD:
        take_list("thread", argument, &selection->threads, &selection->thread_count, state);
        return 0;
    case ARGP_KEY_END:
        if (selection->from_ns > selection->to_ns)
            argp_error(state, "--from is later than --to: nothing lies between them");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {"from", KEY_FROM, "TIME", 0, "Begin at TIME since the program's start, such as 2ms", 5},
    {"to", KEY_TO, "TIME", 0, "End at TIME", 5},
    {"cpu", KEY_CPU, "LIST", 0, "Only these CPUs, such as 1 or 1-3,5", 5},
    {"pid", KEY_PID, "LIST", 0, "Only processes with these numbers", 5},
    {"thread", KEY_THREAD, "LIST", 0, "Only threads with these numbers", 5},
    {0},
};

const struct argp selection_argp = {.options = options, .parser = parse};
