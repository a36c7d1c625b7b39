/* Starts the emulator for one run: chooses the machine, builds the command line, connects the
 * ports.
 *
 * Never prints.  Functions that return int return 0, or -1 with the failure filled, unless noted.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "host/base/run_failure.h"
#include "host/launch/launch_memory.h"
#include "host/launch/launch_near.h"
#include "host/launch/launch_notes.h"
#include "host/launch/launch_pin.h"
#include "host/launch/launch_vpmu.h"
#include "host/options/options.h"

enum launch_port { /* in the order of the devices on the command line */
                   LAUNCH_TRACE,
                   LAUNCH_STDOUT,
                   LAUNCH_STDERR,
                   LAUNCH_LOG,
                   LAUNCH_STDIN,
                   LAUNCH_CONTROL,
                   LAUNCH_CONSOLE, /* COM1: the kernel's output before its ports work */
                   LAUNCH_FILES, /* only where launch_wants_port says so, likewise the next ones */
                   LAUNCH_SERVE,
                   LAUNCH_NETWORK,
                   LAUNCH_PORTS,
};

struct launch_machine {
    bool kvm;
    bool virtual_time; /* -icount: exact and repeatable */
    int cpus; /* workload CPUs; 0: one CPU does all work */
    int guest_cpus; /* total number of CPUs: launch_cpu_count */
    char why[320]; /* the reason for the accelerator, for -v */
    const char *kernel; /* absolute path of the kernel; NULL while unknown */
    struct launch_memory memory; /* with KVM */
    struct launch_pin pin;
    bool fifo; /* the guest's CPUs run under SCHED_FIFO */
    struct launch_notes notes;
};

#define LAUNCH_ARGUMENTS_MAX 96

struct launch_command {
    char *argv[LAUNCH_ARGUMENTS_MAX]; /* NULL-terminated; owned */
    int argc;
    bool controlled; /* QEMU waits for commands on LAUNCH_FD_QMP */
    bool has_port[LAUNCH_PORTS]; /* launch_wants_port */
    int exact; /* memory in which the plugin of --mode exact counts; -1: none */
    char qemu[PATH_MAX]; /* the executable */
    char kernel[PATH_MAX]; /* guest.elf */
    char plugin[PATH_MAX]; /* for --mode exact */
};

struct launch_libvirt;

struct launch {
    pid_t pid; /* our child, -1 when libvirt started the emulator */
    pid_t emulator; /* our child or libvirt's; 0: none */
    struct launch_memory memory; /* how the guest's memory was requested */
    struct launch_libvirt *libvirt; /* or NULL */
    int pidfd; /* readable when the emulator has ended */
    int ports[LAUNCH_PORTS]; /* our ends, non-blocking; -1: there is none */
    int errors; /* the emulator's own stdout and stderr, non-blocking */
    struct launch_near near; /* in virtual time */
    int qmp; /* QEMU's control socket, for a guest that must be placed before it starts */
};

/* Returns the number of the guest's CPUs: the service CPU, the workload's, and with HR_MODE_IPI the
 * one that interrupts them. */
int launch_cpu_count(const struct launch_machine *machine, enum hr_mode mode);

/* Returns whether the run has a port: every one but LAUNCH_FILES, which is only for --keep-files
 * and --missing, LAUNCH_SERVE, which --sealed leaves out, and LAUNCH_NETWORK, which is for
 * --publish and --network. */
bool launch_wants_port(const struct options *o, enum launch_port port);

/* How many ports the virtio-serial device must have: their numbers end with this one.  Without a
 * network it is what it always was. */
#define LAUNCH_VIRTIO_PORTS(o) (launch_wants_port(o, LAUNCH_NETWORK) ? 10 : 9)

/* Returns true if the threads of the guest's CPUs must be placed before it starts: see
 * host/launch/launch_place.h. */
bool launch_is_placed(const struct launch_machine *machine);

/* Returns the argument of QEMU's only -overcommit option, because before QEMU 9.1 a second one
 * resets the first.  NULL: none. */
const char *launch_overcommit(const struct options *o, const struct launch_machine *machine);

/* Chooses accelerator, CPUs, clock, memory and host CPUs.  May measure KVM for some milliseconds.
 */
int launch_choose(const struct options *o, struct launch_machine *machine,
                  struct run_failure *failure);

/* Decides what --accel auto does on a host whose KVM is fast, from what was found there.  A part of
 * launch_choose. */
void launch_choose_accelerator(const struct options *o, const char *why_fast,
                               const struct launch_vpmu *vpmu, struct launch_machine *machine);

/* Finds emulator, firmware and kernel, and builds the command line. */
int launch_prepare(const struct options *o, const struct launch_machine *machine,
                   struct launch_command *command, struct run_failure *failure);

/* Writes the command line as one line that a shell can read. */
void launch_print(const struct launch_command *command, FILE *out);

/* Starts the emulator with `archive_fd` as the guest's archive.  The emulator dies with the calling
 * thread. */
int launch_start(const struct launch_command *command, int archive_fd, struct launch *launch,
                 struct run_failure *failure);

/* Kills the emulator, which must not have been reaped. */
void launch_kill(const struct launch *launch);

/* Kills the emulator if asked, reaps it and closes what is still open.  Returns its wait status;
 * for an emulator of libvirt, destroys the domain and returns 0. */
int launch_end(struct launch *launch, bool kill_first);
