/* Builds the emulator's command line. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "host/launch/exact_memory.h"
#include "host/launch/launch.h"
#include "host/launch/launch_find.h"
#include "host/launch/launch_fixed.h"
#include "include/run_network.h"
#include "include/run_ports.h"
#include "include/run_serve.h"

/* KVM's arch-capabilities MSR stops QEMU 7.2 on some hosts, and the kernel does not need it. */
#define NATIVE_CPU "host,migratable=off,pmu=on,-arch-capabilities"
#define MACHINE "q35,usb=off,vmport=off,i8042=off,sata=off,smbus=off,smm=off"

static const char *const port_names[LAUNCH_PORTS] = {
    [LAUNCH_TRACE] = RUN_PORT_TRACE,     [LAUNCH_STDOUT] = RUN_PORT_STDOUT,
    [LAUNCH_STDERR] = RUN_PORT_STDERR,   [LAUNCH_LOG] = RUN_PORT_LOG,
    [LAUNCH_STDIN] = RUN_PORT_STDIN,     [LAUNCH_CONTROL] = RUN_PORT_CONTROL,
    [LAUNCH_FILES] = RUN_PORT_FILES,     [LAUNCH_SERVE] = RUN_PORT_SERVE,
    [LAUNCH_NETWORK] = RUN_PORT_NETWORK,
};

static void add(struct launch_command *c, const char *option, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds an option with its value; without an option, one argument.  Too many arguments, or a lack of
 * memory, abort hr. */
static void add(struct launch_command *c, const char *option, const char *format, ...)
{
    va_list values;

    if (option != NULL)
        add(c, NULL, "%s", option);
    if (c->argc + 1 >= LAUNCH_ARGUMENTS_MAX)
        abort();
    va_start(values, format);
    if (vasprintf(&c->argv[c->argc], format, values) < 0)
        abort();
    va_end(values);
    c->argv[++c->argc] = NULL;
}

/* If a guest halts and waits without an exit (cpu-pm), KVM arms its timers without the CPU's own
 * timer (Linux: arch/x86/kvm/lapic.c, kvm_can_use_hv_timer).  This pays only if no timer samples.
 */
const char *launch_overcommit(const struct options *o, const struct launch_machine *machine)
{
    bool lock = machine->kvm && machine->memory.locked;
    bool power = machine->kvm && machine->pin.count != 0 && o->mode == HR_MODE_IPI;

    if (lock)
        return power ? "mem-lock=on,cpu-pm=on" : "mem-lock=on";
    return power ? "cpu-pm=on" : NULL;
}

/* Pages that are merged, far away or not yet present would add noise to a measurement. */
static void add_backend(const struct launch_memory *m, unsigned long long megabytes,
                        struct launch_command *c)
{
    char node[48] = "";

    if (m->bound)
        snprintf(node, sizeof node, ",host-nodes=%d,policy=bind", m->node);
    add(c, "-object", "memory-backend-%s,id=memory,size=%lluM%s%s%s",
        m->huge_pages ? "memfd" : "ram", megabytes,
        m->huge_pages ? ",hugetlb=on,hugetlbsize=2M" : "", m->filled ? ",prealloc=on" : "", node);
}

static void add_memory(const struct options *o, const struct launch_machine *m,
                       struct launch_command *c)
{
    const char *overcommit = launch_overcommit(o, m);
    unsigned long long megabytes = o->memory_bytes >> 20;

    if (m->kvm)
        add_backend(&m->memory, megabytes, c);
    add(c, "-machine", MACHINE "%s%s", m->kvm ? ",mem-merge=off,memory-backend=memory" : "",
        m->virtual_time ? "," LAUNCH_NO_TICKS : "");
    add(c, "-m", "%lluM", megabytes);
    if (overcommit != NULL)
        add(c, "-overcommit", "%s", overcommit);
}

static void add_machine(const struct options *o, const struct launch_machine *m,
                        struct launch_command *c)
{
    char qboot[PATH_MAX];

    add_memory(o, m, c);
    add(c, "-accel", "%s", m->kvm ? "kvm" : m->virtual_time ? "tcg" : "tcg,thread=multi");
    add(c, "-cpu", "%s", o->cpu != NULL ? o->cpu : m->kvm ? NATIVE_CPU : LAUNCH_CPU_EMULATED);
    if (m->virtual_time) {
        add(c, "-icount", "shift=0,sleep=off");
        add(c, "-rtc", "base=2024-01-01T00:00:00,clock=vm");
    }
    add(c, "-smp", "%d", launch_cpu_count(m, o->mode));
    if (launch_find_qboot(c->qemu, qboot))
        add(c, "-bios", "%s", qboot);
}

bool launch_wants_port(const struct options *o, enum launch_port port)
{
    if (port == LAUNCH_FILES)
        return o->keep_files != NULL || o->missing;
    if (port == LAUNCH_NETWORK)
        return o->network || o->published_count != 0;
    return port != LAUNCH_SERVE || o->serve;
}

/* Virtio's ports have numbers from 1; the console, a serial port, has none. */
static int port_number(int port)
{
    return port < LAUNCH_CONSOLE ? port + 1 : port;
}

/* Without ioeventfd a notify is handled before the guest's next instruction: deterministic. */
static void add_ports(const struct options *o, struct launch_command *c)
{
    for (int i = 0; i < LAUNCH_PORTS; i++) {
        if (!launch_wants_port(o, (enum launch_port)i))
            continue;
        add(c, "-chardev", "socket,id=port%d,fd=%d", i, LAUNCH_FD_PORTS + i);
    }
    add(c, "-serial", "chardev:port%d", LAUNCH_CONSOLE);
    add(c, "-device", "virtio-serial-pci,id=ports,disable-legacy=on,ioeventfd=off,max_ports=%d",
        LAUNCH_VIRTIO_PORTS(o));
    for (int i = 0; i < LAUNCH_PORTS; i++) {
        if (port_names[i] == NULL || !launch_wants_port(o, (enum launch_port)i))
            continue;
        add(c, "-device", "virtserialport,bus=ports.0,nr=%d,chardev=port%d,name=%s", port_number(i),
            i, port_names[i]);
    }
    add(c, "-device", "isa-debug-exit,iobase=0x%x,iosize=4", RUN_DEBUG_EXIT_PORT);
}

/* Adds the plugin that counts every instruction, and the memory in which it counts. */
static int add_exact(const struct options *o, struct launch_command *c, struct run_failure *failure)
{
    c->exact = -1;
    if (o->mode != HR_MODE_EXACT)
        return 0;
    if (launch_find_part("exact.so", NULL, NULL, c->plugin, failure) != 0)
        return -1;
    c->exact = exact_memory_create();
    if (c->exact < 0)
        return run_fail(failure, "--mode exact: no memory to count in: %s", strerror(-c->exact));
    add(c, "-plugin", "%s,fd=%d", c->plugin, LAUNCH_FD_EXACT);
    return 0;
}

/* The guest waits until its CPUs' threads are placed (host/launch/launch_place.h). */
static void add_control(struct launch_command *c)
{
    add(c, "-chardev", "socket,id=qmp,fd=%d", LAUNCH_FD_QMP);
    add(c, "-mon", "chardev=qmp,mode=control");
    add(c, NULL, "-S");
}

int launch_prepare(const struct options *o, const struct launch_machine *machine,
                   struct launch_command *command, struct run_failure *failure)
{
    command->argc = 0;
    if (launch_find_qemu(o, command->qemu, failure) != 0 ||
        launch_find_kernel(o, command->kernel, failure) != 0)
        return -1;
    add(command, NULL, "%s", command->qemu);
    add(command, "-name", "microtome,debug-threads=on"); /* so that ps -L can name threads */
    add(command, NULL, "-nodefaults");
    add(command, NULL, "-no-user-config");
    add(command, "-display", "none");
    add(command, NULL, "-no-reboot");
    add_machine(o, machine, command);
    add(command, "-kernel", "%s", command->kernel);
    add(command, "-initrd", "/proc/self/fd/%d", LAUNCH_FD_ARCHIVE);
    add_ports(o, command);
    for (int i = 0; i < LAUNCH_PORTS; i++)
        command->has_port[i] = launch_wants_port(o, (enum launch_port)i);
    command->controlled = launch_is_placed(machine);
    if (command->controlled)
        add_control(command);
    return add_exact(o, command, failure);
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
