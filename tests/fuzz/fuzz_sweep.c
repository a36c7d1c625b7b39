/* Fuzzes the folder of a sweep: sweep.json, a zero byte, jobs.csv.  What is read is a plan that can
 * be performed. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/sweep/folder/sweep_folder.h"
#include "tests/fuzz/fuzz.h"

static char folder[] = "/tmp/fuzz_sweep.XXXXXX";

static void write_file(const char *name, const void *bytes, size_t count)
{
    char path[sizeof folder + 16];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "we");
    fuzz_check(file != NULL && fwrite(bytes, 1, count, file) == count && fclose(file) == 0);
}

static void remove_folder(void)
{
    char path[sizeof folder + 16];

    snprintf(path, sizeof path, "%s/sweep.json", folder);
    (void)unlink(path);
    snprintf(path, sizeof path, "%s/jobs.csv", folder);
    (void)unlink(path);
    (void)rmdir(folder);
}

static void check(const struct sweep *sweep)
{
    fuzz_check(sweep->program_count != 0 && sweep->repeat != 0);
    for (size_t r = 0; r < sweep->plan.run_count; r++) {
        const struct sweep_run *run = &sweep->plan.runs[r];
        char *list = sweep_plan_list(&sweep->plan, run);

        fuzz_check(run->count != 0 && run->count < HR_EVENTS_MAX);
        for (uint32_t i = 0; i < run->count; i++)
            fuzz_check(run->events[i] < sweep->plan.event_count);
        free(list);
    }
    for (size_t i = 0; i < sweep->job_count; i++)
        fuzz_check(sweep->jobs[i].run < sweep->plan.run_count &&
                   sweep->jobs[i].repetition < sweep->repeat && sweep->jobs[i].state != SWEEP_DONE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool has_folder;
    const uint8_t *end = size != 0 ? memchr(data, 0, size) : NULL;
    size_t json = end != NULL ? (size_t)(end - data) : size;
    struct run_failure failure = {0};
    struct sweep sweep = {0};

    if (!has_folder) {
        fuzz_check(mkdtemp(folder) != NULL);
        fuzz_check(atexit(remove_folder) == 0);
    }
    has_folder = true;
    write_file("sweep.json", data, json);
    write_file("jobs.csv", data + json, size - json);
    snprintf(sweep.folder, sizeof sweep.folder, "%s", folder);
    if (sweep_folder_load(&sweep, &failure) == 0)
        check(&sweep);
    else
        fuzz_check(failure.exit_status != 0 && failure.text[0] != 0);
    sweep_free(&sweep);
    return 0;
}
