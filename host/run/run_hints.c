/* Finds in the kernel's log what files the program missed or lost, and which events did not fit,
 * and says what to do. */
#include "host/run/run_hints.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/error.h"
#include "host/base/text.h"
#include "include/run_ports.h"

/* Copies the log's next line that begins with `mark`, without it; returns false if there is none.
 */
static bool next_line(const char **at, const char *mark, char *line, size_t room)
{
    while (**at != 0) {
        const char *start = *at;
        size_t bytes = strcspn(start, "\n");

        *at = start + bytes + (start[bytes] == '\n');
        if (strncmp(start, mark, strlen(mark)) != 0)
            continue;
        snprintf(line, room, "%.*s", (int)(bytes - strlen(mark)), start + strlen(mark));
        return true;
    }
    return false;
}

/* Returns whether an argument of the program names the path, perhaps relative to a directory or
 * after "-f=". */
static bool is_argument(const struct options *o, const char *path)
{
    size_t path_bytes = strlen(path);

    for (size_t i = 1; i < o->program_count; i++) {
        const char *argument = o->program[i];
        size_t bytes;

        while (strncmp(argument, "./", 2) == 0 || strncmp(argument, "../", 3) == 0)
            argument = strchr(argument, '/') + 1;
        bytes = strlen(argument);
        if (bytes != 0 && bytes <= path_bytes && strcmp(path + path_bytes - bytes, argument) == 0 &&
            (argument[0] == '/' || path[path_bytes - bytes - 1] == '/'))
            return true;
    }
    return false;
}

/* Prints the most likely cause: a missing name that is an argument; else, if the program failed,
 * the last one. */
static void print_missing(const struct options *o, const struct relay_log *log, bool failed)
{
    char line[RELAY_LOG_LINE_BYTES], path[RELAY_LOG_LINE_BYTES] = "", safe[PATH_MAX];
    const char *at = log->text;
    bool named = false;

    while (!named && next_line(&at, RUN_LOG_MISSING, line, sizeof line)) {
        if (line[0] != '/' || access(line, F_OK) != 0)
            continue;
        named = is_argument(o, line);
        if (named || failed)
            memcpy(path, line, sizeof path);
    }
    if (path[0] == 0)
        return;
    text_escape(safe, sizeof safe, path);
    error_print(
        "the program looked for %s, which is here and was not given to it; --file %s gives it",
        safe, safe);
}

static void print_dropped(const struct relay_log *log)
{
    char line[RELAY_LOG_LINE_BYTES], safe[PATH_MAX], others[64] = "";
    const char *at = log->text;
    unsigned long long files;
    char *end;

    if (!next_line(&at, RUN_LOG_DROPPED, line, sizeof line))
        return;
    files = strtoull(line, &end, 10);
    if (files > 1)
        snprintf(others, sizeof others, " and %llu other%s", files - 1, files > 2 ? "s" : "");
    if (files != 0 && *end == ' ')
        error_print(
            "the program wrote %s%s, which ended with the guest; --keep-files DIR keeps such files",
            text_escape(safe, sizeof safe, end + 1), others);
}

static void print_sweep(const struct options *o, const struct relay_log *log)
{
    if (o->events_group[0] != 0 && strstr(log->text, RUN_LOG_NO_COUNTER) != NULL)
        error_print("%s does not fit into the counters at once; 'hr sweep -e %s' measures it in "
                    "several runs",
                    o->events_group, o->events_group);
}

void run_hints_print(const struct options *o, const struct relay_log *log, bool failed)
{
    print_sweep(o, log);
    if (o->quiet || o->again)
        return;
    if (!o->missing && !o->serve)
        print_missing(o, log, failed);
    print_dropped(log);
}

void run_hints_print_libraries(const struct options *o)
{
    const char *path = getenv("LD_LIBRARY_PATH");

    if (path == NULL || path[0] == 0 || o->quiet || o->again)
        return;
    for (size_t i = 0; i < o->environment.count; i++)
        if (strncmp(o->environment.items[i], "LD_LIBRARY_PATH=", 16) == 0)
            return;
    error_print("LD_LIBRARY_PATH is set here, and the program does not inherit it; --env "
                "LD_LIBRARY_PATH gives it");
}
