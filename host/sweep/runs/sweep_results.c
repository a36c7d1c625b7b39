/* Finds the results of a sweep's sticks. */
#include "host/sweep/runs/sweep_results.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/array.h"
#include "host/sweep/runs/sweep_stick.h"
#include "host/usb/usb_result.h"

#define REASON_BYTES (2 * USB_RESULT_TEXT_BYTES + 4)

static int add(struct sweep_results *r, const char *path, uint64_t number, const char *machine,
               const char *reason)
{
    struct sweep_result_place *place;

    if (array_grow(&r->places, r->count, sizeof r->places[0]) != 0)
        return -ENOMEM;
    place = &r->places[r->count++];
    *place = (struct sweep_result_place){.number = number};
    snprintf(place->path, sizeof place->path, "%s", path);
    remote_parcel_text(place->machine, sizeof place->machine, machine);
    snprintf(place->reason, sizeof place->reason, "%.190s", reason);
    return 0;
}

/* What result.conf says.  Returns false if there is none that can be read. */
static bool read_conf(const char *folder, struct usb_result *result)
{
    char path[2 * PATH_MAX + 16], error[USB_RESULT_ERROR_BYTES];
    char *text = malloc(USB_RESULT_BYTES_MAX);
    size_t bytes = 0;
    bool good;
    FILE *file;

    snprintf(path, sizeof path, "%s/result.conf", folder);
    file = text != NULL ? fopen(path, "re") : NULL;
    if (file != NULL)
        bytes = fread(text, 1, USB_RESULT_BYTES_MAX, file);
    good = file != NULL && usb_result_parse(text, bytes, result, error) == 0;
    if (file != NULL)
        fclose(file);
    free(text);
    return good;
}

static const char *reason_of(const struct usb_result *result, char text[REASON_BYTES])
{
    if (!result->complete)
        return "it was not written to its end";
    if (result->cut_bytes != 0)
        return "the stick was full";
    if (strcmp(result->end, "done") == 0)
        return result->reason;
    snprintf(text, REASON_BYTES, "%s%s%s", result->end, result->reason[0] != 0 ? ": " : "",
             result->reason);
    return text;
}

/* A result that was taken off a stick. */
static int add_taken(struct sweep_results *r, const char *name, const char *folder)
{
    static struct usb_result result;
    char text[REASON_BYTES];

    if (!read_conf(folder, &result) || strcmp(result.run, name) != 0) {
        r->others += result.complete;
        return 0;
    }
    return add(r, folder, result.repetition, result.machine, reason_of(&result, text));
}

/* Results that came from one machine over the network. */
static int add_received(struct sweep_results *r, const char *name, const char *folder,
                        const char *machine)
{
    char path[2 * PATH_MAX], trace[2 * PATH_MAX + 16];
    DIR *list = opendir(folder);
    const struct dirent *entry;
    size_t bytes = strlen(name);
    int error = 0;

    while (list != NULL && error == 0 && (entry = readdir(list)) != NULL) {
        int used = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);

        snprintf(trace, sizeof trace, "%s/hr.bin", path);
        if (entry->d_name[0] == '.' || used >= PATH_MAX || access(trace, F_OK) != 0)
            continue;
        if (strncmp(entry->d_name, name, bytes) == 0 && entry->d_name[bytes] == '-')
            error = add(r, path, strtoull(entry->d_name + bytes + 1, NULL, 10), machine, "");
        else
            r->others++;
    }
    if (list != NULL)
        closedir(list);
    return error;
}

static int by_number(const void *left, const void *right)
{
    const struct sweep_result_place *a = left, *b = right;

    return a->number != b->number ? (a->number > b->number) - (a->number < b->number)
                                  : strcmp(a->path, b->path);
}

int sweep_results_find(struct sweep_results *results, const struct sweep *sweep, const char *folder,
                       struct run_failure *failure)
{
    char name[SWEEP_STICK_NAME_BYTES], path[2 * PATH_MAX], conf[2 * PATH_MAX + 16];
    DIR *list = opendir(folder);
    const struct dirent *entry;
    int error = list != NULL ? 0 : -errno;

    sweep_stick_name(sweep, name);
    while (list != NULL && error == 0 && (entry = readdir(list)) != NULL) {
        if (entry->d_name[0] == '.' ||
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= PATH_MAX)
            continue;
        snprintf(conf, sizeof conf, "%s/result.conf", path);
        error = access(conf, F_OK) == 0 ? add_taken(results, name, path)
                                        : add_received(results, name, path, entry->d_name);
    }
    if (list != NULL)
        closedir(list);
    if (results->count != 0)
        qsort(results->places, results->count, sizeof results->places[0], by_number);
    return error == 0 ? 0 : run_fail(failure, "%s: %s", folder, strerror(-error));
}

void sweep_results_free(struct sweep_results *results)
{
    free(results->places);
    *results = (struct sweep_results){0};
}
