/* hr run: packs a program, boots it alone, relays its streams and collects its trace. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/collector/collect.h"
#include "host/collector/keep_files.h"
#include "host/launch/launch.h"
#include "host/launch/launch_libvirt.h"
#include "host/launch/launch_place.h"
#include "host/network/network.h"
#include "host/options/options_packed.h"
#include "host/pack/pack.h"
#include "host/run/relay.h"
#include "host/run/run_hints.h"
#include "host/run/run_packed.h"
#include "host/run/run_repeat.h"
#include "host/run/run_result.h"
#include "host/serve/serve.h"

static int take_archive(const struct options *o, const struct launch_machine *machine,
                        struct stat *input, struct run_failure *failure)
{
    int fd = memfd_create("run.cpio", MFD_CLOEXEC);

    if (fd < 0 || fstat(o->packed->fd, input) != 0)
        return run_fail(failure, "cannot make a file in memory: %s", strerror(errno));
    if (run_packed_write(o, machine, fd, failure) == 0)
        return fd;
    close(fd);
    return -1;
}

/* Returns a descriptor of the archive, or -1 with the failure filled. */
static int make_archive(const struct options *o, const struct launch_machine *machine,
                        struct stat *input, struct run_failure *failure)
{
    struct pack contents;
    int fd = -1, result;

    if (o->packed != NULL)
        return take_archive(o, machine, input, failure);
    result = pack_collect(&contents, o, machine, failure);

    if (contents.program.interpreter[0] != 0)
        run_hints_print_libraries(o);
    if (result == 0) {
        pack_print(&contents, o, stderr);
        if (o->dry_run)
            pack_print_probes(&contents, o, stdout);
        fd = memfd_create("run.cpio", MFD_CLOEXEC);
        result = fd < 0 ? run_fail(failure, "cannot make a file in memory: %s", strerror(errno))
                        : pack_write(&contents, o, machine, fd, failure);
    }
    *input = contents.program.status;
    pack_free(&contents);
    if (result == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static struct relay relay;
static struct serve serve = SERVE_CLOSED;
static struct network network = NETWORK_CLOSED;

/* From here on the trace file may have its name, so it is closed properly however the run ends. */
static int run_launched(const struct options *o, const struct launch_command *command,
                        struct launch *launch, struct collector *collector,
                        struct keep_files *files, int signals, struct run_failure *failure)
{
    struct run_result result = {
        .options = o,
        .command = command,
        .relay = &relay,
        .collector = collector,
        .files = files,
        .serve = &serve,
        .network = &network,
        .failure = failure,
    };

    (void)relay_run(&relay, o, launch, collector, files, &serve, &network, signals, failure);
    result.wait_status = launch_end(launch, failure->exit_status != 0 || relay.abandoned);
    return run_result_finish(&result);
}

/* Starts the guest; one that was started paused runs when this returns. */
static int start_guest(const struct options *o, const struct launch_machine *machine,
                       const struct launch_command *command, int archive, struct launch *launch,
                       struct run_failure *failure)
{
    int result = o->libvirt ? launch_libvirt_start(o, machine, command, archive, launch, failure)
                            : launch_start(command, archive, launch, failure);

    launch->memory = machine->memory;
    if (result != 0 || o->libvirt)
        return result;
    if (machine->virtual_time && !launch_is_placed(machine))
        launch_near_start(&launch->near, launch->pid);
    return launch_place(launch, machine, failure);
}

/* Opens the tree that the guest may look for files in. */
static int open_served(const struct options *o, struct run_failure *failure)
{
    const char *root = o->root != NULL ? o->root : "/";
    int result = o->serve ? serve_open_root(&serve, root) : 0;

    if (result == 0)
        return 0;
    if (result == -ENOSYS)
        return run_fail(failure,
                        "this kernel cannot serve files (openat2: %s); --sealed does without",
                        strerror(-result));
    return run_fail(failure, "cannot serve the files of '%s': %s", root,
                    result == -EINVAL ? "it belongs to the kernel" : strerror(-result));
}

static int run_packed(const struct options *o, const struct launch_machine *machine,
                      const struct launch_command *command, int archive, const struct stat *input,
                      int signals, struct run_failure *failure)
{
    static struct keep_files files;
    struct collector collector;
    struct launch launch;
    int status = keep_files_open(&files, o->keep_files, o->memory_bytes);

    if (status != 0)
        return run_fail(failure, "--keep-files %s: %s", o->keep_files, strerror(-status));
    if (open_served(o, failure) != 0 ||
        collect_open(&collector, o->output, o->force, input, failure) != 0) {
        serve_close(&serve);
        keep_files_close(&files);
        return -1;
    }
    collector.needs_pmu = o->require_pmu;
    if (start_guest(o, machine, command, archive, &launch, failure) != 0) {
        launch_end(&launch, true);
        collect_close(&collector, HR_HOST_GUEST_DIED, failure->text);
        status = -1;
    } else {
        status = run_launched(o, command, &launch, &collector, &files, signals, failure);
    }
    serve_close(&serve);
    keep_files_close(&files);
    return status;
}

static void print_notes(const struct options *o, const struct launch_machine *machine)
{
    if (o->verbose)
        fprintf(stderr, "hr: %s, because: %s\n", machine->kvm ? "KVM" : "emulation", machine->why);
    launch_notes_print(&machine->notes, o->verbose, o->quiet, stderr);
}

static int print_guest(const struct options *o, const struct launch_machine *machine,
                       const struct launch_command *command, struct run_failure *failure)
{
    if (o->libvirt)
        return launch_libvirt_print(o, machine, command, stdout, failure);
    launch_print(command, stdout);
    return HR_EXIT_OK;
}

/* Opens the published ports, and prints those that the system chose. */
static int open_network(const struct options *o, struct run_failure *failure)
{
    if (network_open(&network, o, failure) != 0)
        return -1;
    for (size_t i = 0; i < network.published_count; i++)
        if (network.published[i].chosen)
            fprintf(stderr, "hr: published: port %u of %s is port %u of the program%s\n",
                    network.published[i].port, network.published[i].address,
                    network.published[i].guest_port, network.published[i].udp ? ", UDP" : "");
    return 0;
}

/* Implements run_repeat_once. */
static int run(const struct options *o, bool *stopped, struct run_failure *failure)
{
    struct launch_machine machine;
    struct launch_command command;
    char kernel[PATH_MAX];
    struct stat input; /* the program */
    int signals, archive, status;

    *stopped = true;
    if (launch_choose(o, &machine, failure) != 0 ||
        launch_prepare(o, &machine, &command, failure) != 0)
        return -1;
    machine.kernel = realpath(command.kernel, kernel) != NULL ? kernel : NULL;
    if (!o->again)
        print_notes(o, &machine);
    signal(SIGXFSZ, SIG_IGN); /* a limit on file sizes is an error to report, not a death */
    archive = make_archive(o, &machine, &input, failure);
    if (archive < 0)
        return -1;
    if (o->dry_run)
        return print_guest(o, &machine, &command, failure);
    signals = open_network(o, failure) == 0 ? relay_catch_signals(failure) : -1;
    status =
        signals < 0 ? -1 : run_packed(o, &machine, &command, archive, &input, signals, failure);
    network_close(&network);
    if (signals >= 0)
        close(signals);
    close(archive);
    *stopped = failure->exit_status != 0 || relay.user_signal != 0;
    return status;
}

int run_command(int argc, char **argv)
{
    struct run_failure failure = {0};
    struct options options;
    bool stopped;
    int status = -1;

    if (options_parse(&options, false, argc, argv, &failure) == 0)
        status = options.repeat != 0 ? run_repeat(&options, run, &failure)
                                     : run(&options, &stopped, &failure);
    if (status >= 0)
        return status;
    error_print("%s", failure.text);
    return failure.exit_status;
}
