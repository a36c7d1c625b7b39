/* Plans a sweep for a machine that starts from a stick, and writes the stick. */
#include "host/sweep/runs/sweep_stick.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "host/base/text.h"
#include "host/events/events_library.h"
#include "host/summary/summary.h"
#include "host/sweep/runs/sweep_measure.h"
#include "host/sweep/runs/sweep_remote.h"
#include "host/sweep/runs/sweep_task.h"
#include "host/usb/usb_command.h"

#define USB_WORDS 64
#define GENERAL_OLD 4 /* of Intel's CPUs before Ice Lake, whose threads share a core's eight */
#define GENERAL_NEW 8 /* of Intel's CPUs with four fixed counters */

static uint32_t lowest(uint32_t count)
{
    return count < 32 ? (1u << count) - 1 : UINT32_MAX;
}

/* The counters that a processor of this kind has at least. */
static int take_model(struct sweep_machine *m, const char *text, struct run_failure *failure)
{
    char described[EVENTS_CPU_TEXT_BYTES];
    uint32_t general, fixed;
    const char *table;

    if (events_cpu_of_table(&m->cpu, text) != 0 && events_cpu_parse(&m->cpu, text) != 0)
        return run_fail(
            failure,
            "--target-cpu %s: neither a trace nor a processor; name it as VENDOR-FAMILY-"
            "MODEL, such as intel-6-106, or as icx ('hr doctor' says what a machine is)",
            text);
    table = events_cpu_table(&m->cpu);
    if (table == NULL || events_library_counters(table, &general, &fixed) != 0)
        return run_fail(failure,
                        "--target-cpu %s: the counters of this processor are not known; name a "
                        "trace of such a machine",
                        text);
    if (m->cpu.vendor == RUN_CPU_INTEL && general > (fixed > 3 ? GENERAL_NEW : GENERAL_OLD))
        general = fixed > 3 ? GENERAL_NEW : GENERAL_OLD;
    m->general = lowest(general);
    m->fixed = lowest(fixed);
    m->cpu.fixed_counters = fixed;
    snprintf(m->processor, sizeof m->processor, "%s", events_cpu_describe(&m->cpu, described));
    return 0;
}

static int take_trace(struct sweep_machine *m, const char *path, struct run_failure *failure)
{
    static struct summary summary;
    int error = summary_from_file(path, &summary), result;

    if (error != 0)
        return run_fail(failure, "--target-cpu %s: %s", path, strerror(-error));
    result = sweep_measure_machine(m, &summary.info, failure);
    summary_free(&summary);
    return result;
}

int sweep_stick_target(struct sweep *sweep, const char *target, struct run_failure *failure)
{
    struct sweep_machine *m = &sweep->plan.machine;

    *m = (struct sweep_machine){0};
    do
        if (getrandom(&sweep->stick, sizeof sweep->stick, 0) != (ssize_t)sizeof sweep->stick)
            return run_fail(failure, "no random numbers: %s", strerror(errno));
    while (sweep->stick == 0);
    return access(target, F_OK) == 0 ? take_trace(m, target, failure)
                                     : take_model(m, target, failure);
}

int sweep_stick_check(const struct sweep *sweep, const struct trace_info *info,
                      struct run_failure *failure)
{
    const struct sweep_machine *planned = &sweep->plan.machine;
    char here[EVENTS_CPU_TEXT_BYTES], there[EVENTS_CPU_TEXT_BYTES];
    struct sweep_machine m;

    if (sweep_measure_machine(&m, info, failure) != 0)
        return -1;
    if (m.cpu.vendor != planned->cpu.vendor || m.cpu.family != planned->cpu.family ||
        m.cpu.model != planned->cpu.model)
        return run_fail(failure, "its processor is %s, and the sweep was planned for %s",
                        events_cpu_describe(&m.cpu, there),
                        events_cpu_describe(&planned->cpu, here));
    if ((planned->general & ~m.general) == 0 && (planned->fixed & ~m.fixed) == 0)
        return 0;
    return run_fail(failure,
                    "it has %d general and %d fixed counters, and the plan takes %d and %d; begin "
                    "another sweep with its trace for --target-cpu",
                    __builtin_popcount(m.general), __builtin_popcount(m.fixed),
                    __builtin_popcount(planned->general), __builtin_popcount(planned->fixed));
}

char *sweep_stick_name(const struct sweep *sweep, char name[SWEEP_STICK_NAME_BYTES])
{
    snprintf(name, SWEEP_STICK_NAME_BYTES, "sweep-%08" PRIx32, sweep->stick);
    return name;
}

size_t sweep_stick_waiting(const struct sweep *sweep)
{
    size_t count = sweep->first.state == SWEEP_WAITS;

    for (size_t i = 0; i < sweep->job_count; i++)
        count += sweep->jobs[i].state == SWEEP_WAITS;
    return count;
}

/* What the stick is to leave out.  The caller frees it. */
static char *make_marks(const struct sweep *sweep)
{
    char *marks = calloc(sweep->job_count + SWEEP_STICK_JOBS, 1);

    if (marks == NULL)
        return NULL;
    marks[0] = sweep->first.state == SWEEP_WAITS ? BOOT_CONF_WAITS : BOOT_CONF_ENDED;
    for (size_t i = 0; i < sweep->job_count; i++)
        marks[i + SWEEP_STICK_JOBS - 1] =
            sweep->jobs[i].state == SWEEP_WAITS ? BOOT_CONF_WAITS : BOOT_CONF_ENDED;
    return marks;
}

/* The user's options, those of the runs that are the stick's, and the archive: as for hr usb. */
static int parse_usb(const struct sweep *sweep, char *words, char *archive, struct usb_options *o,
                     struct run_failure *failure)
{
    const char **all = calloc(USB_WORDS + sweep->option_count + 8, sizeof all[0]);
    size_t count = 0;
    int result;

    if (all == NULL)
        return run_fail(failure, "out of memory; end other programs");
    all[count++] = "hr usb";
    all[count++] = "-o";
    all[count++] = sweep->usb;
    for (size_t i = 0; i < sweep->option_count; i++)
        if (sweep_task_is_of_stick(sweep->options[i]))
            all[count++] = sweep->options[i];
    count += remote_words(words, all + count, USB_WORDS);
    all[count++] = archive;
    result = usb_options_parse(o, (int)count, (char **)all, failure);
    free(all);
    return result;
}

static int write_stick(const struct sweep *sweep, char *words, char *marks, char *archive,
                       struct run_failure *failure)
{
    static struct usb_options o;

    if (parse_usb(sweep, words, archive, &o, failure) != 0)
        return -1;
    if (o.collect != NULL || o.conf.exit_firmware != 0)
        return run_fail(failure,
                        "--usb-options: --collect and --firmware exit are not for a sweep; "
                        "leave them out");
    o.run.quiet = true; /* the caller says what is on it */
    o.resumable = true;
    o.repeat = sweep->job_count + 1;
    o.marks = marks;
    return usb_command_write(&o, failure);
}

int sweep_stick_write(const struct sweep *sweep, struct run_failure *failure)
{
    const char *given = sweep->usb_options != NULL ? sweep->usb_options : "";
    char archive[SWEEP_PATH_BYTES], name[SWEEP_STICK_NAME_BYTES], file[64];
    char *words, *marks;
    int result;

    if (sweep->job_count + 1 > BOOT_CONF_REPEAT_MAX)
        return run_fail(failure, "--usb: %zu runs, and a stick performs %u; name fewer events",
                        sweep->job_count + 1, BOOT_CONF_REPEAT_MAX);
    if (remote_count(given) > USB_WORDS)
        return run_fail(failure, "--usb-options: more than %d words", USB_WORDS);
    snprintf(file, sizeof file, "tasks/%s.cpio", sweep_stick_name(sweep, name));
    sweep_path(sweep, file, archive);
    words = strdup(given);
    marks = make_marks(sweep);
    if (words == NULL || marks == NULL)
        result = run_fail(failure, "out of memory; end other programs");
    else
        result = sweep_stick_pack(sweep, archive, failure);
    if (result == 0)
        result = write_stick(sweep, words, marks, archive, failure);
    unlink(archive);
    free(words);
    free(marks);
    return result;
}
