/* Writes the run manifest. */
#include <errno.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "host/base/error.h"
#include "host/events/events_targets.h"
#include "host/pack/archive/pack_manifest.h"
#include "host/pack/archive/pack_python.h"
#include "lib/boot/manifest.h"
#include "lib/boot/modes.h"
#include "lib/trace/stack_kinds.h"

#define VIRTUAL_START_UNIX_NS 1704067200000000000ull /* 2024-01-01 in every run */

struct draft {
    char *out;
    size_t room;
    size_t used;
    bool full;
};

static void add(struct draft *d, const char *key, const char *value)
{
    size_t used = d->full ? 0 : manifest_append(d->out, d->room, d->used, key, value);

    d->full = used == 0;
    d->used = used != 0 ? used : d->used;
}

static void add_number(struct draft *d, const char *key, uint64_t value)
{
    char text[32];

    snprintf(text, sizeof text, "%lu", value);
    add(d, key, text);
}

static void add_terminal(struct draft *d, const struct options *o)
{
    struct winsize size;

    add_number(d, "tty", (uint64_t)pack_environment_terminals(o));
    for (int fd = 0; fd < 3 && !o->unattended; fd++)
        if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_row != 0 && size.ws_col != 0) {
            add_number(d, "rows", size.ws_row);
            add_number(d, "columns", size.ws_col);
            return;
        }
}

static void add_program(struct draft *d, const struct pack *pack)
{
    const struct pack_program *p = &pack->program;
    char cwd[PATH_MAX];

    add(d, "program", p->path + 1);
    add(d, "program-path", p->path);
    if (p->build_id[0] != 0)
        add(d, "program-build-id", p->build_id);
    for (size_t i = 0; i < p->argument_count; i++)
        add(d, "arg", p->arguments[i]);
    for (size_t i = 0; i < pack->environment.count; i++)
        add(d, "env", pack->environment.settings[i]);
    add(d, "cwd", p->root == NULL && getcwd(cwd, sizeof cwd) != NULL ? cwd : "/");
}

static uint64_t start_unix_ns(bool virtual_time)
{
    struct timespec now;

    if (virtual_time)
        return VIRTUAL_START_UNIX_NS;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void add_sampling(struct draft *d, const struct options *o)
{
    add(d, "mode", modes_name(o->mode));
    add_number(d, "interval", o->interval_ns);
    if (o->period != 0)
        add_number(d, "period", o->period);
    if (o->frequency_hz != 0)
        add_number(d, "frequency", o->frequency_hz);
    add_number(d, "max-overhead", o->max_overhead);
    if (o->counters_every > 1)
        add_number(d, "counters-every", o->counters_every);
    if (o->paused)
        add_number(d, "paused", 1);
}

static void add_precise(struct draft *d, const struct options *o)
{
    for (size_t i = 0; i < o->events.count; i++)
        add_number(d, "event-period", o->precise[i] ? o->period : 0);
    if (o->load_latency != 0)
        add_number(d, "load-latency", o->load_latency);
    if (o->jitter)
        add_number(d, "jitter", 1);
    if (o->registers)
        add_number(d, "registers", 1);
}

/* Comes last: the kernel's time to find a key depends on what is before it, and neither records of
 * waits and accesses, looks at pages nor call stacks must change what the program sees of its
 * clock. */
static void add_stacks(struct draft *d, const struct options *o)
{
    if (o->waits)
        add_number(d, "waits", 1);
    if (o->alloc)
        add_number(d, "alloc", 1);
    if (o->alloc_min != 0)
        add_number(d, "alloc-min", o->alloc_min);
    if (o->alloc_every != 0)
        add_number(d, "alloc-every", o->alloc_every);
    if (o->pages_ns != 0)
        add_number(d, "pages", o->pages_ns);
    if (o->pages_split)
        add_number(d, "pages-split", 1);
    if (o->mode == HR_MODE_PEBS)
        add_precise(d, o);
    if (o->stacks.kind == 0)
        return;
    add(d, "stacks", stack_kinds_name(o->stacks.kind));
    add_number(d, "stacks-limit", o->stacks.limit);
    if (o->probe_stack)
        add_number(d, "probe-stack", 1);
}

static int add_python(struct draft *d, const struct options *o, const struct pack *pack,
                      struct run_failure *failure)
{
    char text[PYTHON_LAYOUT_TEXT_BYTES];
    struct pack_python python;
    int error;

    if (o->stacks.kind != HR_STACK_PYTHON)
        return 0;
    error = pack_python_find(&pack->list, &python);
    for (size_t i = 1; i < pack->program.argument_count && error == -ENOENT; i++)
        error = pack_python_word(pack->program.arguments[i],
                                 pack_environment_get(&pack->environment, "PATH"), &python);
    if (error == -ENOTSUP)
        return run_fail(failure,
                        "--python: %s is CPython of another version than 3.11, 3.12 and 3.13, the "
                        "ones whose frames are known",
                        python.name);
    if (error != 0)
        return run_fail(failure, "--python: neither the program nor its libraries are CPython "
                                 "with the symbol _PyRuntime, and no argument names it; give the "
                                 "interpreter itself as the program, such as /usr/bin/python3");
    add(d, "python", python.name);
    python_layout_write(&python.layout, text);
    add(d, "python-layout", text);
    return 0;
}

/* Writes how the events are encoded on the CPUs that the archive is for, so that the kernel needs
 * no host for that. */
static int add_encodings(struct draft *d, const struct options *o, struct run_failure *failure)
{
    struct events_targets targets;
    char text[64];

    if (events_targets_make(&targets, o->target_cpu, &o->events, failure) != 0)
        return -1;
    for (size_t g = 0; g < targets.count; g++) {
        add(d, "target-cpu", targets.groups[g].cpus);
        for (size_t i = 0; i < o->events.count; i++) {
            const struct events_encoding *e = &targets.groups[g].encodings[i];

            snprintf(text, sizeof text, "%lx:%lx:%x", e->select, e->companion, e->counters);
            add(d, "event-encoding", text);
        }
    }
    if (targets.kinds < targets.kinds_known && !o->quiet)
        error_print("the events exist on %zu of %zu kinds of CPU that are known; on the others the "
                    "run is refused",
                    targets.kinds, targets.kinds_known);
    events_targets_free(&targets);
    return 0;
}

int pack_manifest_write(const struct options *o, const struct launch_machine *machine,
                        const struct pack *pack, char *out, size_t room, size_t *used,
                        struct run_failure *failure)
{
    struct draft d = {.out = out, .room = room};

    add(&d, "version", "1");
    add_program(&d, pack);
    add_sampling(&d, o);
    if (machine->kernel != NULL)
        add(&d, "kernel-path", machine->kernel);
    for (size_t i = 0; i < o->events.count; i++)
        add(&d, "event", o->events.names[i]);
    add_number(&d, "cpus", (uint64_t)machine->cpus);
    add_number(&d, "virtual-time", machine->virtual_time);
    add_number(&d, "emulated", !machine->kvm);
    add_number(&d, "start-unix-ns", start_unix_ns(machine->virtual_time));
    if (o->packing && o->timeout_ns != 0)
        add_number(&d, "timeout", o->timeout_ns);
    if (o->duration_ns != 0)
        add_number(&d, "duration", o->duration_ns);
    add(&d, "hostname", "microtome");
    add_terminal(&d, o);
    if (o->processes != 0)
        add_number(&d, "processes", o->processes);
    if (o->prefault)
        add_number(&d, "prefault", 1);
    if (o->keep_files != NULL)
        add_number(&d, "keep-files", 1);
    if (o->missing)
        add_number(&d, "missing", 1);
    if (o->network)
        add_number(&d, "network", 1);
    for (size_t i = 0; i < o->published_count; i++)
        add_number(&d, o->published[i].udp ? "published-udp" : "published-tcp",
                   o->published[i].guest_port);
    if (o->panic_test != NULL)
        add(&d, "panic-test", o->panic_test);
    add_stacks(&d, o);
    if (add_python(&d, o, pack, failure) != 0)
        return -1;
    if (o->default_events)
        add_number(&d, "default-events", 1);
    if (o->target_cpu != NULL && add_encodings(&d, o, failure) != 0)
        return -1;
    *used = d.used;
    if (!d.full)
        return 0;
    return run_fail_as(failure, RUN_EXIT_NOT_EXECUTABLE,
                       "the arguments and the environment are longer than %zu bytes", room);
}
