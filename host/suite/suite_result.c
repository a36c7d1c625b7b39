/* Results in memory, and their files. */
#include "host/suite/suite_result.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/base/array.h"
#include "host/base/transfer.h"

void suite_outcome_free(struct suite_outcome *o)
{
    free(o->name);
    free(o->problem);
    diff_facts_free(&o->facts);
    for (size_t i = 0; i < o->event_count; i++) {
        free(o->events[i].name);
        free(o->events[i].source);
        free(o->events[i].values);
    }
    for (size_t i = 0; i < o->function_count; i++) {
        free(o->functions[i].name);
        free(o->functions[i].object);
        free(o->functions[i].counts);
    }
    free(o->events);
    free(o->functions);
    suite_limits_free(&o->limits);
}

void suite_results_free(struct suite_results *results)
{
    for (size_t i = 0; i < results->outcome_count; i++)
        suite_outcome_free(&results->outcomes[i]);
    free(results->outcomes);
    free(results->suite);
    free(results->architecture);
    *results = (struct suite_results){0};
}

const struct suite_outcome *suite_results_find(const struct suite_results *results,
                                               const char *name)
{
    for (size_t i = 0; i < results->outcome_count; i++)
        if (strcmp(results->outcomes[i].name, name) == 0)
            return &results->outcomes[i];
    return NULL;
}

int suite_event_add(struct suite_event *e, uint64_t value)
{
    long double sum = 0;

    if (array_grow(&e->values, e->value_count, sizeof e->values[0]) != 0)
        return -ENOMEM;
    e->values[e->value_count++] = value;
    for (size_t i = 0; i < e->value_count; i++)
        sum += (long double)e->values[i];
    e->total = (uint64_t)(sum / (long double)e->value_count + 0.5L);
    return 0;
}

const char *suite_event_word(const struct suite_event *event, char word[SUITE_WORD_BYTES])
{
    size_t bytes = strlen(event->name);

    if (bytes > 2 && strcmp(event->name + bytes - 2, ":u") == 0)
        bytes -= 2;
    snprintf(word, SUITE_WORD_BYTES, "%.*s", bytes < SUITE_WORD_BYTES ? (int)bytes : 63,
             event->name);
    return word;
}

int suite_outcome_event(const struct suite_outcome *outcome, const char *name)
{
    char word[SUITE_WORD_BYTES];

    for (size_t i = 0; i < outcome->event_count; i++)
        if (strcmp(outcome->events[i].name, name) == 0 ||
            strcmp(suite_event_word(&outcome->events[i], word), name) == 0)
            return (int)i;
    return -1;
}

static int read_file(struct suite_results *results, const char *path, struct run_failure *failure)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), result = -1;
    struct stat status = {0};
    ssize_t count = -EFBIG;
    char *text = NULL;

    if (fd < 0 || fstat(fd, &status) != 0 || S_ISDIR(status.st_mode)) {
        count = fd >= 0 && S_ISDIR(status.st_mode) ? -EISDIR : -errno;
    } else if (status.st_size <= (off_t)SUITE_RESULTS_BYTES_MAX) {
        text = malloc((size_t)status.st_size + 1);
        count = text != NULL ? transfer_read(fd, text, (size_t)status.st_size) : -ENOMEM;
    }
    if (fd >= 0)
        close(fd);
    if (count >= 0)
        result = suite_results_parse(results, path, text, (size_t)count, failure);
    else
        run_fail_as(failure, 2, "cannot read the results '%s': %s", path, strerror((int)-count));
    free(text);
    return result;
}

int suite_results_read(struct suite_results *results, const char *path, struct run_failure *failure)
{
    char file[SUITE_PATH_BYTES];
    struct stat status;

    if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode))
        return read_file(results, path, failure);
    snprintf(file, sizeof file, "%.4000s/" SUITE_RESULTS_NAME, path);
    return read_file(results, file, failure);
}

int suite_results_write(const struct suite_results *results, const char *path,
                        struct run_failure *failure)
{
    char partial[SUITE_PATH_BYTES + 8];
    char *text = suite_results_text(results);
    bool good = false;
    FILE *file;

    if (text == NULL)
        return run_fail(failure, "out of memory; end other programs");
    snprintf(partial, sizeof partial, "%s.part", path);
    file = fopen(partial, "we");
    if (file != NULL) {
        good = fputs(text, file) >= 0;
        good &= fclose(file) == 0;
    }
    free(text);
    if (good && rename(partial, path) == 0)
        return 0;
    run_fail(failure, "cannot write '%s': %s", path, strerror(errno));
    unlink(partial);
    return -1;
}
