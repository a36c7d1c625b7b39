/* Starts the emulator for one run: chooses the machine, builds the command line, connects the
 * ports.
 *
 * Never prints.  Everything returns 0, or -1 with the failure filled.
 */
#ifndef HOST_LAUNCH_H
#define HOST_LAUNCH_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "host/options.h"
#include "host/run_failure.h"

enum launch_port { /* the order is that of the devices on the command line */
                   LAUNCH_TRACE,
                   LAUNCH_STDOUT,
                   LAUNCH_STDERR,
                   LAUNCH_LOG,
                   LAUNCH_STDIN,
                   LAUNCH_CONTROL,
                   LAUNCH_CONSOLE, /* COM1: what the kernel says before its ports work */
                   LAUNCH_PORTS,
};

struct launch_machine {
    bool kvm;
    bool virtual_time; /* -icount: exact and repeatable */
    int cpus; /* workload CPUs; 0: one CPU does everything */
    int observers; /* CPUs that interrupt them: --mode ipi */
    const char *why; /* the reason for the accelerator, for -v */
};

#define LAUNCH_ARGUMENTS_MAX 96

struct launch_command {
    char *argv[LAUNCH_ARGUMENTS_MAX]; /* NULL-terminated; owned */
    int argc;
    char qemu[PATH_MAX]; /* what is executed */
    char kernel[PATH_MAX]; /* guest.elf */
};

struct launch {
    pid_t pid;
    int pidfd; /* readable when the emulator has ended */
    int ports[LAUNCH_PORTS]; /* our ends, non-blocking */
    int errors; /* the emulator's own stdout and stderr, non-blocking */
};

/* Chooses accelerator, CPUs and clock.  May measure KVM for some milliseconds. */
int launch_choose(const struct options *o, struct launch_machine *machine,
                  struct run_failure *failure);

/* Finds emulator, firmware and kernel, and builds the command line. */
int launch_prepare(const struct options *o, const struct launch_machine *machine,
                   struct launch_command *command, struct run_failure *failure);

/* Writes the command line as one line that a shell would read back. */
void launch_print(const struct launch_command *command, FILE *out);

/* Starts the emulator with `archive_fd` as the guest's archive.  It dies with the calling thread.
 */
int launch_start(const struct launch_command *command, int archive_fd, struct launch *launch,
                 struct run_failure *failure);

/* Kills the emulator, which was not reaped yet. */
void launch_kill(const struct launch *launch);

/* Kills the emulator if asked, reaps it and closes what is still open; returns its wait status. */
int launch_end(struct launch *launch, bool kill_first);

#endif
