/* Starts the emulator for one run: chooses the machine, builds the command line, connects the
 * ports.
 *
 * Never prints.  Everything returns 0, or -1 with the failure filled.
 */
#ifndef HOST_LAUNCH_LAUNCH_H
#define HOST_LAUNCH_LAUNCH_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "host/base/run_failure.h"
#include "host/launch/launch_memory.h"
#include "host/launch/launch_notes.h"
#include "host/launch/launch_pin.h"
#include "host/launch/launch_vpmu.h"
#include "host/options/options.h"

enum launch_port { /* the order is that of the devices on the command line */
                   LAUNCH_TRACE,
                   LAUNCH_STDOUT,
                   LAUNCH_STDERR,
                   LAUNCH_LOG,
                   LAUNCH_STDIN,
                   LAUNCH_CONTROL,
                   LAUNCH_CONSOLE, /* COM1: what the kernel says before its ports work */
                   LAUNCH_FILES, /* only where launch_wants_port says so */
                   LAUNCH_PORTS,
};

struct launch_machine {
    bool kvm;
    bool virtual_time; /* -icount: exact and repeatable */
    int cpus; /* workload CPUs; 0: one CPU does everything */
    int guest_cpus; /* all of them: launch_cpu_count */
    char why[320]; /* the reason for the accelerator, for -v */
    const char *kernel; /* its absolute path, NULL while nobody knows */
    struct launch_memory memory; /* KVM */
    struct launch_pin pin;
    bool fifo; /* the guest's CPUs run under SCHED_FIFO */
    struct launch_notes notes;
};

#define LAUNCH_ARGUMENTS_MAX 96

struct launch_command {
    char *argv[LAUNCH_ARGUMENTS_MAX]; /* NULL-terminated; owned */
    int argc;
    bool controlled; /* QEMU waits for commands on LAUNCH_FD_QMP */
    bool has_files; /* there is a port LAUNCH_FILES */
    int exact; /* the memory that the plugin of --mode exact counts in; -1: none */
    char qemu[PATH_MAX]; /* what is executed */
    char kernel[PATH_MAX]; /* guest.elf */
    char plugin[PATH_MAX]; /* of --mode exact */
};

struct launch_libvirt;

struct launch {
    pid_t pid; /* our child, -1 when libvirt started the emulator */
    pid_t emulator; /* our child or libvirt's; 0 while there is none */
    struct launch_memory memory; /* what it was asked to do with the guest's */
    struct launch_libvirt *libvirt; /* or NULL */
    int pidfd; /* readable when the emulator has ended */
    int ports[LAUNCH_PORTS]; /* our ends, non-blocking; -1: there is none */
    int errors; /* the emulator's own stdout and stderr, non-blocking */
    int qmp; /* QEMU's control socket, for a guest that waits to be placed */
};

/* CPUs of the guest: the service CPU, the workload's, and with HR_MODE_IPI the one that interrupts
 * them.
 */
int launch_cpu_count(const struct launch_machine *machine, enum hr_mode mode);

/* Every port but LAUNCH_FILES, which is for --keep-files and --missing. */
bool launch_wants_port(const struct options *o, enum launch_port port);

/* True when the guest's CPUs are threads to place before it starts: see host/launch/launch_place.h.
 */
bool launch_is_placed(const struct launch_machine *machine);

/* What -overcommit says of the machine, in one option: before QEMU 9.1 a second one resets what the
 * first one said.  NULL: nothing.
 */
const char *launch_overcommit(const struct options *o, const struct launch_machine *machine);

/* Chooses accelerator, CPUs, clock, memory and host CPUs.  May measure KVM for some milliseconds.
 */
int launch_choose(const struct options *o, struct launch_machine *machine,
                  struct run_failure *failure);

/* What --accel auto does on a host whose KVM is fast, from what was found there: a part of
 * launch_choose.
 */
void launch_choose_accelerator(const struct options *o, const char *why_fast,
                               const struct launch_vpmu *vpmu, struct launch_machine *machine);

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

/* Kills the emulator if asked, reaps it and closes what is still open; returns its wait status, 0
 * for an emulator of libvirt's, which is destroyed.
 */
int launch_end(struct launch *launch, bool kill_first);

#endif
