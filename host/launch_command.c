/* Chooses the machine for a run and builds the emulator's command line. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/events.h"
#include "host/launch.h"
#include "host/launch_accel.h"
#include "host/launch_fds.h"
#include "include/run_ports.h"

/* x86-64-v3 as QEMU 7.2's TCG implements it completely, so that it neither warns nor differs from
 * machine to machine.  No rdrand and rdseed: they would make runs differ.
 */
#define EMULATED_CPU                                                                            \
    "qemu64,-svm,+ssse3,+sse4.1,+sse4.2,+popcnt,+avx,+avx2,+fma,+f16c,+bmi1,+bmi2,+abm,+movbe," \
    "+xsave,+xsaveopt,+xgetbv1,+fsgsbase,+smep,+smap,+umip,+rdtscp,+erms,+pdpe1gb,+arat,+"      \
    "pclmulqdq,+aes,+adx"
/* KVM's arch-capabilities MSR stops QEMU 7.2 on some hosts, and the kernel does not need it. */
#define NATIVE_CPU "host,migratable=off,pmu=on,-arch-capabilities"
#define MACHINE "q35,usb=off,vmport=off,i8042=off,sata=off,smbus=off,smm=off"

static const char *const port_names[LAUNCH_PORTS] = {
    [LAUNCH_TRACE] = RUN_PORT_TRACE,   [LAUNCH_STDOUT] = RUN_PORT_STDOUT,
    [LAUNCH_STDERR] = RUN_PORT_STDERR, [LAUNCH_LOG] = RUN_PORT_LOG,
    [LAUNCH_STDIN] = RUN_PORT_STDIN,   [LAUNCH_CONTROL] = RUN_PORT_CONTROL,
};

/* The emulator counts nothing, unless it is another one, or a CPU with a PMU was asked for: then
 * the guest finds out.
 */
static bool may_have_pmu(const struct options *o, const struct launch_machine *machine)
{
    return machine->kvm || o->qemu != NULL ||
           (o->cpu != NULL && (strstr(o->cpu, "pmu=on") != NULL || strstr(o->cpu, "+pmu") != NULL));
}

/* Refuses what certainly cannot be counted before anything is started. */
static int check_counters(const struct options *o, const struct launch_machine *machine,
                          struct run_failure *failure)
{
    if (o->packing || may_have_pmu(o, machine))
        return 0;
    if (o->require_pmu)
        return run_fail(failure, RUN_EXIT_FAILED,
                        "--require-pmu: the emulator has no PMU; leave the option out, or run "
                        "where KVM offers one");
    for (size_t i = 0; i < o->event_count; i++)
        if (!events_is_generic(o->events[i]))
            return run_fail(failure, RUN_EXIT_FAILED,
                            "event '%s': the emulator has no performance counters, only generic "
                            "events of the program (such as instructions:u) exist there; run "
                            "where KVM offers a PMU",
                            o->events[i]);
    return 0;
}

int launch_choose(const struct options *o, struct launch_machine *machine,
                  struct run_failure *failure)
{
    *machine = (struct launch_machine){.why = "as asked"};
    if (o->accel == OPTIONS_ACCEL_KVM) {
        machine->kvm = true;
        if (access("/dev/kvm", R_OK | W_OK) != 0 && !o->packing)
            return run_fail(failure, RUN_EXIT_FAILED,
                            "--accel kvm: /dev/kvm: %s; %s, or use --accel tcg", strerror(errno),
                            errno == EACCES ? "join the group kvm" : "load the kvm module");
    } else if (o->accel == OPTIONS_ACCEL_AUTO) {
        machine->kvm = launch_accel_kvm_is_fast(&machine->why);
    }
    machine->observers = o->mode == HR_MODE_IPI;
    machine->cpus = o->cpus != OPTIONS_CPUS_AUTO ? o->cpus : machine->kvm || machine->observers;
    if (machine->observers && machine->cpus == 0)
        return run_fail(failure, RUN_EXIT_FAILED,
                        "--cpus 0: --mode ipi needs a CPU that interrupts another one; give "
                        "--cpus 1 or more, or use --mode timer");
    machine->virtual_time = !machine->kvm && machine->cpus == 0;
    return check_counters(o, machine, failure);
}

static void add(struct launch_command *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The command line has a bounded number of arguments; without memory there is no way on. */
static void add(struct launch_command *c, const char *format, ...)
{
    va_list arguments;

    if (c->argc + 1 >= LAUNCH_ARGUMENTS_MAX)
        abort();
    va_start(arguments, format);
    if (vasprintf(&c->argv[c->argc], format, arguments) < 0)
        abort();
    va_end(arguments);
    c->argv[++c->argc] = NULL;
}

static bool is_file(const char *path)
{
    return access(path, R_OK) == 0;
}

/* Looks for a program in PATH as execvp would. */
static bool find_in_path(const char *name, char found[PATH_MAX])
{
    const char *path = getenv("PATH");

    for (const char *p = path != NULL ? path : "/usr/bin:/bin"; p != NULL;) {
        size_t bytes = strcspn(p, ":");

        if (snprintf(found, PATH_MAX, "%.*s/%s", (int)bytes, bytes != 0 ? p : ".", name) <
                PATH_MAX &&
            access(found, X_OK) == 0)
            return true;
        p = p[bytes] == ':' ? p + bytes + 1 : NULL;
    }
    return false;
}

static int find_qemu(const struct options *o, struct launch_command *c, struct run_failure *failure)
{
    const char *name = o->qemu != NULL ? o->qemu : "qemu-system-x86_64";

    if (strchr(name, '/') == NULL) {
        if (find_in_path(name, c->qemu))
            return 0;
        return run_fail(failure, RUN_EXIT_FAILED,
                        "%s is not installed; apt-get install qemu-system-x86, or name it with "
                        "--qemu",
                        name);
    }
    snprintf(c->qemu, sizeof c->qemu, "%s", name);
    if (access(name, X_OK) != 0)
        return run_fail(failure, RUN_EXIT_FAILED, "--qemu %s: %s", name, strerror(errno));
    return 0;
}

static int find_kernel(const struct options *o, struct launch_command *c,
                       struct run_failure *failure)
{
    static const char *const places[] = {"guest.elf", "../lib/microtome/guest.elf"};
    char self[PATH_MAX];
    ssize_t bytes = readlink("/proc/self/exe", self, sizeof self - 1);

    if (o->kernel != NULL) {
        snprintf(c->kernel, sizeof c->kernel, "%s", o->kernel);
        return is_file(c->kernel) ? 0
                                  : run_fail(failure, RUN_EXIT_FAILED, "--kernel %s: %s", o->kernel,
                                             strerror(errno));
    }
    self[bytes > 0 ? bytes : 0] = 0;
    dirname(self);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (snprintf(c->kernel, sizeof c->kernel, "%s/%s", self, places[i]) < PATH_MAX &&
            is_file(c->kernel))
            return 0;
    return run_fail(
        failure, RUN_EXIT_FAILED,
        "the kernel guest.elf is neither beside hr nor in ../lib/microtome; run 'make', or "
        "name it with --kernel");
}

/* qboot starts a PVH kernel in a tenth of SeaBIOS's time.  It comes with QEMU's data. */
static bool find_qboot(const char *qemu, char found[PATH_MAX])
{
    static const char *const beside[] = {"../share/qemu/qboot.rom", "pc-bios/qboot.rom",
                                         "../pc-bios/qboot.rom"};
    char real[PATH_MAX];

    if (realpath(qemu, real) != NULL) {
        dirname(real);
        for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++)
            if (snprintf(found, PATH_MAX, "%s/%s", real, beside[i]) < PATH_MAX && is_file(found))
                return true;
    }
    snprintf(found, PATH_MAX, "/usr/share/qemu/qboot.rom");
    return is_file(found);
}

static void add_machine(const struct options *o, const struct launch_machine *m,
                        struct launch_command *c)
{
    char qboot[PATH_MAX];

    add(c, "-machine");
    add(c, MACHINE);
    add(c, "-accel");
    add(c, "%s", m->kvm ? "kvm" : m->virtual_time ? "tcg" : "tcg,thread=multi");
    add(c, "-cpu");
    add(c, "%s", o->cpu != NULL ? o->cpu : m->kvm ? NATIVE_CPU : EMULATED_CPU);
    if (m->virtual_time) {
        add(c, "-icount");
        add(c, "shift=0,sleep=off");
        add(c, "-rtc");
        add(c, "base=2024-01-01T00:00:00,clock=vm");
    }
    add(c, "-smp");
    add(c, "%d", 1 + m->cpus + m->observers);
    add(c, "-m");
    add(c, "%lluM", (unsigned long long)(o->memory_bytes >> 20));
    if (find_qboot(c->qemu, qboot)) {
        add(c, "-bios");
        add(c, "%s", qboot);
    }
}

/* Without ioeventfd a notify is handled before the guest's next instruction: deterministic. */
static void add_ports(struct launch_command *c)
{
    for (int i = 0; i < LAUNCH_PORTS; i++) {
        add(c, "-chardev");
        add(c, "socket,id=port%d,fd=%d", i, LAUNCH_FD_PORTS + i);
    }
    add(c, "-serial");
    add(c, "chardev:port%d", LAUNCH_CONSOLE);
    add(c, "-device");
    add(c, "virtio-serial-pci,id=ports,disable-legacy=on,ioeventfd=off,max_ports=8");
    for (int i = 0; i < LAUNCH_CONSOLE; i++) {
        add(c, "-device");
        add(c, "virtserialport,bus=ports.0,nr=%d,chardev=port%d,name=%s", i + 1, i, port_names[i]);
    }
    add(c, "-device");
    add(c, "isa-debug-exit,iobase=0x%x,iosize=4", RUN_DEBUG_EXIT_PORT);
}

int launch_prepare(const struct options *o, const struct launch_machine *machine,
                   struct launch_command *command, struct run_failure *failure)
{
    command->argc = 0;
    if (find_qemu(o, command, failure) != 0 || find_kernel(o, command, failure) != 0)
        return -1;
    add(command, "%s", command->qemu);
    add(command, "-nodefaults");
    add(command, "-no-user-config");
    add(command, "-display");
    add(command, "none");
    add(command, "-no-reboot");
    add_machine(o, machine, command);
    add(command, "-kernel");
    add(command, "%s", command->kernel);
    add(command, "-initrd");
    add(command, "/proc/self/fd/%d", LAUNCH_FD_ARCHIVE);
    add_ports(command);
    return 0;
}

static bool needs_quotes(const char *text)
{
    return text[0] == 0 || text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                             "0123456789_-+=,./:@%")] != 0;
}

void launch_print(const struct launch_command *command, FILE *out)
{
    for (int i = 0; i < command->argc; i++) {
        const char *text = command->argv[i];

        if (i > 0)
            putc(' ', out);
        if (!needs_quotes(text)) {
            fputs(text, out);
            continue;
        }
        putc('\'', out);
        for (; *text != 0; text++)
            fputs(*text == '\'' ? "'\\''" : (char[]){*text, 0}, out);
        putc('\'', out);
    }
    putc('\n', out);
}
