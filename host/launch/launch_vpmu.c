/* Judges KVM's offer of counters and the switches of its modules. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/launch/launch_vpmu.h"

const struct launch_vpmu_switch launch_vpmu_switches[] = {
    {"kvm", "enable_pmu"}, {"kvm_intel", "enable_pmu"}, {"kvm_amd", "enable_pmu"},
    {"kvm_intel", "pmu"},  {"kvm_amd", "pmu"},          {NULL, NULL},
};

/* Returns the first switch that is off, or NULL. */
static const struct launch_vpmu_switch *find_switched_off(const char *root)
{
    for (const struct launch_vpmu_switch *s = launch_vpmu_switches; s->module != NULL; s++) {
        char path[PATH_MAX];
        FILE *file;
        int value;

        snprintf(path, sizeof path, "%s/sys/module/%s/parameters/%s", root, s->module,
                 s->parameter);
        file = fopen(path, "re");
        if (file == NULL)
            continue;
        value = fgetc(file);
        fclose(file);
        if (value == 'N' || value == '0')
            return s;
    }
    return NULL;
}

/* On a hybrid processor KVM turns its switch off, whatever its parameter (Linux:
 * arch/x86/kvm/pmu.h, kvm_init_pmu_capability). */
void launch_vpmu_judge(const struct cpu_counters *offered, int error,
                       const struct cpu_counters *own, const char *root, struct launch_vpmu *vpmu)
{
    char described[CPU_COUNTERS_TEXT_BYTES];
    const struct launch_vpmu_switch *off = find_switched_off(root);

    *vpmu = (struct launch_vpmu){.present = false};
    if (own->hybrid && (off != NULL || (error == 0 && offered->version == 0))) {
        snprintf(vpmu->why, sizeof vpmu->why,
                 "KVM has no vPMU on a hybrid processor (cores of several kinds); boot the program "
                 "on the bare machine with 'hr usb', or use another machine");
    } else if (off != NULL) {
        snprintf(vpmu->why, sizeof vpmu->why,
                 "KVM has no vPMU: parameter %s of module %s is off; load the module with %s=1, on "
                 "a machine that has performance counters",
                 off->parameter, off->module, off->parameter);
    } else if (error != 0) {
        snprintf(vpmu->why, sizeof vpmu->why, "KVM does not say whether it has a vPMU: %s",
                 strerror(-error));
    } else if (offered->version == 0) {
        snprintf(vpmu->why, sizeof vpmu->why,
                 "KVM has no vPMU: this machine's own CPU shows no performance counters; if it is "
                 "a virtual machine, switch its vPMU on");
    } else {
        vpmu->present = true;
        snprintf(vpmu->why, sizeof vpmu->why, "KVM has a vPMU: %s",
                 cpu_counters_describe(offered, described));
    }
}

void launch_vpmu_find(struct launch_vpmu *vpmu)
{
    struct cpu_counters offered = {.version = 0};
    struct cpu_counters own;
    int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
    int error = kvm < 0 ? -errno : cpu_counters_of_kvm(kvm, &offered);

    cpu_counters_of_host(&own);
    launch_vpmu_judge(&offered, error, &own, "", vpmu);
    if (kvm >= 0)
        close(kvm);
}
