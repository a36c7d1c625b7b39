/* hr doctor's checks of memory, permissions and the programs that a run needs. */
#include <string.h>

#include "host/base/text.h"
#include "host/doctor/doctor_checks.h"
#include "host/doctor/doctor_finding.h"
#include "host/doctor/doctor_read.h"
#include "host/launch/launch_memory.h"
#include "host/options/options.h"

#define HUGE "/sys/kernel/mm/hugepages/hugepages-"
#define HUGE_2M_BYTES (2ull << 20)
#define PAGES_WANTED (OPTIONS_MEMORY_DEFAULT_BYTES / HUGE_2M_BYTES)
#define LOCK_WANTED_BYTES (OPTIONS_MEMORY_DEFAULT_BYTES + LAUNCH_MEMORY_EMULATOR_BYTES)
#define LIMITS_FILE "/etc/security/limits.d/microtome.conf"

void doctor_check_hugepages(const struct doctor_host *h, struct doctor_finding *f)
{
    uint64_t small = 0; /* of 2 MB */
    uint64_t small_total = 0;
    uint64_t large = 0; /* of 1 GB */
    int error = doctor_read_number(h, HUGE "2048kB/free_hugepages", &small);

    if (error == 0)
        error = doctor_read_number(h, HUGE "2048kB/nr_hugepages", &small_total);
    if (error != 0) {
        doctor_finding_unreadable(f, HUGE "2048kB", error);
        return;
    }
    (void)doctor_read_number(h, HUGE "1048576kB/free_hugepages", &large);
    doctor_finding_set(f, small >= PAGES_WANTED ? DOCTOR_OK : DOCTOR_WARNING, NULL,
                       "%llu of 2 MB free, %llu of 1 GB", (unsigned long long)small,
                       (unsigned long long)large);
    if (small >= PAGES_WANTED) {
        doctor_finding_effect(f, "They hold the memory of a guest of the default size.");
        return;
    }
    doctor_finding_effect(f, "The guest's memory gets pages of whatever size is free: TLB and "
                             "cache misses differ from run to run.");
    doctor_finding_command(f, "echo %llu | sudo tee " HUGE "2048kB/nr_hugepages",
                           (unsigned long long)(small_total + PAGES_WANTED - small));
}

void doctor_check_memory_lock(const struct doctor_host *h, struct doctor_finding *f)
{
    uint64_t limit = h->facts.memory_lock_bytes;
    char amount[TEXT_QUANTITY_BYTES];

    if (limit == UINT64_MAX)
        doctor_finding_set(f, DOCTOR_OK, NULL, "no limit");
    else
        doctor_finding_set(f, DOCTOR_OK, NULL, "%s%s", text_bytes(amount, limit),
                           h->facts.is_privileged ? ", which this user may exceed" : "");
    if (h->facts.is_privileged || limit >= LOCK_WANTED_BYTES) {
        doctor_finding_effect(
            f, "The guest's memory can be locked: no page of it goes away during a run.");
        return;
    }
    f->state = DOCTOR_WARNING;
    doctor_finding_effect(f, "The guest's memory cannot be locked: a page that Linux takes away "
                             "costs the program a fault that nobody sees.");
    doctor_finding_command(f, "echo \"$USER - memlock unlimited\" | sudo tee -a " LIMITS_FILE
                              "  # then log in again");
}

void doctor_check_priority(const struct doctor_host *h, struct doctor_finding *f)
{
    if (h->facts.may_use_fifo) {
        if (h->facts.realtime_priority == 0)
            doctor_finding_set(f, DOCTOR_OK, NULL, "allowed");
        else
            doctor_finding_set(f, DOCTOR_OK, "hr run --fifo works.", "allowed, up to %llu",
                               (unsigned long long)h->facts.realtime_priority);
        return;
    }
    doctor_finding_set(f, DOCTOR_WARNING,
                       "hr run --fifo is refused; without it, other tasks on the same CPU "
                       "interrupt the guest.  Isolated CPUs do as well.",
                       "not allowed");
    doctor_finding_command(f, "echo \"$USER - rtprio 50\" | sudo tee -a " LIMITS_FILE
                              "  # then log in again");
}

void doctor_check_qemu(const struct doctor_host *h, struct doctor_finding *f)
{
    static const char before[] = "QEMU emulator version ";
    const char *version = strstr(h->facts.qemu_version, before);

    if (h->facts.qemu[0] == 0) {
        doctor_finding_set(f, DOCTOR_PROBLEM, "Nothing can be run.", "%s", h->facts.no_qemu);
        if (doctor_read_exists(h, "/usr/bin/apt-get"))
            doctor_finding_command(f, "sudo apt-get install qemu-system-x86");
        else
            doctor_finding_advice(f, "install QEMU for x86-64");
    } else if (version == NULL) {
        doctor_finding_set(f, DOCTOR_PROBLEM, "It is not QEMU, or it does not start.",
                           "%s does not say its version", h->facts.qemu);
        doctor_finding_command(f, "%s --version", h->facts.qemu);
    } else {
        doctor_finding_set(f, DOCTOR_OK, "Microtome is tested with 7.2 and 10.0.", "%.*s, %s",
                           (int)strcspn(version + strlen(before), " "), version + strlen(before),
                           h->facts.qemu);
    }
}

void doctor_check_kernel(const struct doctor_host *h, struct doctor_finding *f)
{
    if (h->facts.kernel[0] != 0) {
        doctor_finding_set(f, DOCTOR_OK, "Guests boot it.", "%s", h->facts.kernel);
        return;
    }
    doctor_finding_set(f, DOCTOR_PROBLEM, "Nothing can be run.", "guest.elf is missing");
    doctor_finding_advice(f, "%s", h->facts.no_kernel);
}

void doctor_check_libvirt(const struct doctor_host *h, struct doctor_finding *f)
{
    static const char *const sockets[] = {"/run/libvirt/libvirt-sock",
                                          "/run/libvirt/virtqemud-sock"};

    for (size_t i = 0; i < sizeof sockets / sizeof sockets[0]; i++) {
        if (!doctor_read_exists(h, sockets[i]))
            continue;
        doctor_finding_set(f, DOCTOR_OK, "hr run --libvirt works for members of the group libvirt.",
                           "running (%s)", sockets[i]);
        return;
    }
    doctor_finding_set(f, DOCTOR_OK, "hr run --libvirt is refused, everything else works.",
                       "not running; only --libvirt needs it");
    doctor_finding_command(
        f, "sudo apt-get install libvirt-daemon-system && sudo systemctl start libvirtd");
}
