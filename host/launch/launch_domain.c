/* Writes the XML of a transient domain (libvirt, "Domain XML format"). */
#include <stdlib.h>
#include <string.h>

#include "host/base/xml.h"
#include "host/launch/launch_domain.h"
#include "host/launch/launch_find.h"
#include "host/launch/launch_fixed.h"
#include "include/run_network.h"
#include "include/run_ports.h"
#include "include/run_serve.h"

#define START_UNIX "1704067200" /* 2024-01-01, as on QEMU's command line */
#define SCHEMA "http://libvirt.org/schemas/domain/qemu/1.0"

static const struct {
    const char *socket;
    const char *name;
} ports[LAUNCH_PORTS] = {
    [LAUNCH_TRACE] = {"trace", RUN_PORT_TRACE},    [LAUNCH_STDOUT] = {"stdout", RUN_PORT_STDOUT},
    [LAUNCH_STDERR] = {"stderr", RUN_PORT_STDERR}, [LAUNCH_LOG] = {"log", RUN_PORT_LOG},
    [LAUNCH_STDIN] = {"stdin", RUN_PORT_STDIN},    [LAUNCH_CONTROL] = {"control", RUN_PORT_CONTROL},
    [LAUNCH_CONSOLE] = {"console", NULL},          [LAUNCH_FILES] = {"files", RUN_PORT_FILES},
    [LAUNCH_SERVE] = {"serve", RUN_PORT_SERVE},    [LAUNCH_NETWORK] = {"network", RUN_PORT_NETWORK},
};

const char *launch_domain_socket(enum launch_port port)
{
    return ports[port].socket;
}

static void put_memory(struct xml *x, const struct options *o, const struct launch_machine *m)
{
    xml_start(x, "memory unit='MiB'");
    xml_text(x, "%lu", o->memory_bytes >> 20);
    xml_end(x);
    if (!m->kvm)
        return;
    xml_start(x, "memoryBacking");
    if (m->memory.huge_pages) {
        xml_start(x, "hugepages");
        xml_empty(x, "page size='2' unit='MiB'");
        xml_end(x);
    }
    xml_empty(x, "nosharepages");
    if (m->memory.locked) {
        xml_empty(x, "locked");
    }
    if (m->memory.huge_pages)
        xml_empty(x, "source type='memfd'");
    if (m->memory.filled)
        xml_empty(x, "allocation mode='immediate'");
    xml_end(x);
}

static void put_node(struct xml *x, const struct launch_machine *m)
{
    if (!m->kvm || !m->memory.bound)
        return;
    xml_start(x, "numatune");
    xml_empty(x, "memory mode='strict' nodeset='%d'", m->memory.node);
    xml_end(x);
}

static void put_pinning(struct xml *x, const struct launch_machine *m)
{
    char others[1024];

    for (int i = 0; i < m->pin.count; i++) {
        xml_empty(x, "vcpupin vcpu='%d' cpuset='%d'", i, m->pin.cpus[i]);
    }
    if (m->pin.count != 0)
        xml_empty(x, "emulatorpin cpuset='%s'",
                  cpu_list_format(&m->pin.others, others, sizeof others));
}

static void put_cpus(struct xml *x, const struct launch_machine *m)
{
    xml_start(x, "vcpu placement='static'");
    xml_text(x, "%d", m->guest_cpus);
    xml_end(x);
    if (!launch_is_placed(m))
        return;
    xml_start(x, "cputune");
    put_pinning(x, m);
    if (m->fifo) {
        xml_empty(x, "vcpusched vcpus='0-%d' scheduler='fifo' priority='1'", m->guest_cpus - 1);
    }
    xml_end(x);
}

static void put_boot(struct xml *x, const struct launch_domain *domain)
{
    char qboot[PATH_MAX];

    xml_start(x, "os");
    xml_start(x, "type arch='x86_64' machine='q35'");
    xml_text(x, "hvm");
    xml_end(x);
    if (launch_find_qboot(domain->emulator, qboot)) {
        xml_start(x, "loader type='rom'");
        xml_text(x, "%s", qboot);
        xml_end(x);
    }
    xml_start(x, "kernel");
    xml_text(x, "%s/%s", domain->directory, LAUNCH_DOMAIN_KERNEL);
    xml_end(x);
    xml_start(x, "initrd");
    xml_text(x, "%s/%s", domain->directory, LAUNCH_DOMAIN_ARCHIVE);
    xml_end(x);
    xml_end(x);
}

static void put_features(struct xml *x, const struct launch_machine *m)
{
    xml_start(x, "features");
    xml_empty(x, "acpi");
    xml_empty(x, "apic");
    if (m->kvm)
        xml_empty(x, "pmu state='on'");
    xml_empty(x, "vmport state='off'");
    xml_empty(x, "smm state='off'");
    xml_end(x);
}

/* Writes one "+name" or "-name" of QEMU's notation; libvirt spells one of them differently. */
static void put_feature(struct xml *x, const char *feature)
{
    const char *name = strcmp(feature + 1, "pclmulqdq") == 0 ? "pclmuldq" : feature + 1;

    xml_empty(x, "feature policy='%s' name='%s'", feature[0] == '+' ? "require" : "disable", name);
}

static void put_emulated_cpu(struct xml *x)
{
    char text[] = LAUNCH_CPU_EMULATED;
    char *rest;
    char *piece = strtok_r(text, ",", &rest);

    xml_start(x, "cpu mode='custom' match='exact' check='none'");
    xml_start(x, "model fallback='forbid'");
    xml_text(x, "%s", piece);
    xml_end(x);
    while ((piece = strtok_r(NULL, ",", &rest)) != NULL)
        put_feature(x, piece);
    xml_end(x);
}

static void put_cpu_model(struct xml *x, const struct options *o, const struct launch_machine *m)
{
    if (o->cpu != NULL) /* on the command line: libvirt cannot express its properties */
        return;
    if (!m->kvm) {
        put_emulated_cpu(x);
        return;
    }
    xml_start(x, "cpu mode='host-passthrough' check='none' migratable='off'");
    put_feature(x, "-arch-capabilities");
    xml_end(x);
}

static void put_clock(struct xml *x, const struct launch_machine *m)
{
    xml_start(x, "clock");
    if (m->virtual_time) {
        xml_attribute(x, "offset", "absolute");
        xml_attribute(x, "start", START_UNIX);
        xml_empty(x, "timer name='rtc' track='guest'");
    } else {
        xml_attribute(x, "offset", "utc");
    }
    xml_end(x);
    xml_element(x, "on_poweroff", "destroy");
    xml_element(x, "on_reboot", "destroy");
    xml_element(x, "on_crash", "destroy");
}

static void put_source(struct xml *x, const struct launch_domain *domain, int port)
{
    xml_empty(x, "source mode='connect' path='%s/%s'", domain->directory, ports[port].socket);
}

static void put_channel(struct xml *x, const struct launch_domain *domain, int port)
{
    xml_start(x, "channel type='unix'");
    put_source(x, domain, port);
    xml_empty(x, "target type='virtio' name='%s'", ports[port].name);
    xml_empty(x, "address type='virtio-serial' controller='0' bus='0' port='%d'",
              port < LAUNCH_CONSOLE ? port + 1 : port);
    xml_end(x);
}

/* The kernel looks for its devices on the first PCI bus. */
static void put_controllers(struct xml *x, const struct options *o)
{
    xml_empty(x, "controller type='usb' model='none'");
    xml_start(x,
              "controller type='virtio-serial' index='0' ports='%d' "
              "model='virtio-non-transitional'",
              LAUNCH_VIRTIO_PORTS(o));
    xml_empty(x, "address type='pci' domain='0' bus='0' slot='2' function='0'");
    xml_end(x);
}

static void put_devices(struct xml *x, const struct options *o, const struct launch_domain *domain)
{
    xml_start(x, "devices");
    xml_element(x, "emulator", domain->emulator);
    put_controllers(x, o);
    xml_start(x, "serial type='unix'");
    put_source(x, domain, LAUNCH_CONSOLE);
    xml_empty(x, "target type='isa-serial' port='0'");
    xml_end(x);
    for (int i = 0; i < LAUNCH_PORTS; i++)
        if (ports[i].name != NULL && launch_wants_port(o, (enum launch_port)i))
            put_channel(x, domain, i);
    xml_empty(x, "memballoon model='none'");
    xml_end(x);
}

static void put_argument(struct xml *x, const char *option, const char *value)
{
    xml_empty(x, "qemu:arg value='%s'", option);
    xml_empty(x, "qemu:arg value='%s'", value);
}

/* Adds what libvirt cannot express. */
static void put_command_line(struct xml *x, const struct options *o, const struct launch_machine *m)
{
    const char *overcommit = launch_overcommit(o, m);
    char exit_device[64];

    snprintf(exit_device, sizeof exit_device, "isa-debug-exit,iobase=0x%x,iosize=4",
             RUN_DEBUG_EXIT_PORT);
    xml_start(x, "qemu:commandline");
    put_argument(x, "-machine", "sata=off,smbus=off,i8042=off");
    put_argument(x, "-global", "virtio-pci.ioeventfd=off");
    if (o->cpu != NULL)
        put_argument(x, "-cpu", o->cpu);
    if (m->virtual_time) {
        put_argument(x, "-icount", "shift=0,sleep=off");
        put_argument(x, "-machine", LAUNCH_NO_TICKS);
    }
    if (overcommit != NULL) /* after libvirt's own option, which knows only mem-lock */
        put_argument(x, "-overcommit", overcommit);
    put_argument(x, "-device", exit_device);
    xml_end(x);
}

static void put_labels(struct xml *x, const struct launch_domain *domain)
{
    for (int i = 0; i < LAUNCH_DOMAIN_MODELS_MAX && domain->models[i][0] != 0; i++) {
        xml_empty(x, "seclabel type='none' model='%s'", domain->models[i]);
    }
}

int launch_domain_write(const struct options *o, const struct launch_machine *machine,
                        const struct launch_domain *domain, FILE *out, struct run_failure *failure)
{
    struct xml x;

    xml_init(&x, out);
    xml_start(&x, "domain type='%s' xmlns:qemu='%s'", machine->kvm ? "kvm" : "qemu", SCHEMA);
    xml_element(&x, "name", domain->name);
    put_memory(&x, o, machine);
    put_cpus(&x, machine);
    put_node(&x, machine);
    put_boot(&x, domain);
    put_features(&x, machine);
    put_cpu_model(&x, o, machine);
    put_clock(&x, machine);
    put_devices(&x, o, domain);
    put_labels(&x, domain);
    put_command_line(&x, o, machine);
    xml_end(&x);
    if (!x.bad)
        return 0;
    return run_fail(failure, "--libvirt: a path or an option has a character that XML cannot hold");
}
