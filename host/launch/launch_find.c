/* Finds the emulator, its firmware and the kernel. */
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/launch/launch_find.h"

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

int launch_find_qemu(const struct options *o, char found[PATH_MAX], struct run_failure *failure)
{
    const char *name = o->qemu != NULL ? o->qemu : "qemu-system-x86_64";

    if (strchr(name, '/') == NULL) {
        if (find_in_path(name, found))
            return 0;
        return run_fail(
            failure, "%s is not installed; apt-get install qemu-system-x86, or name it with --qemu",
            name);
    }
    snprintf(found, PATH_MAX, "%s", name);
    if (access(name, X_OK) != 0)
        return run_fail(failure, "--qemu %s: %s", name, strerror(errno));
    return 0;
}

int launch_find_part(const char *name, const char *given, const char *option, char found[PATH_MAX],
                     struct run_failure *failure)
{
    static const char *const places[] = {"", "../lib/microtome/"};
    char self[PATH_MAX];
    ssize_t bytes = readlink("/proc/self/exe", self, sizeof self - 1);

    if (given != NULL) {
        snprintf(found, PATH_MAX, "%s", given);
        return is_file(found) ? 0
                              : run_fail(failure, "--%s %s: %s", option, given, strerror(errno));
    }
    self[bytes > 0 ? bytes : 0] = 0;
    dirname(self);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (snprintf(found, PATH_MAX, "%s/%s%s", self, places[i], name) < PATH_MAX &&
            is_file(found))
            return 0;
    return run_fail(failure, "%s is neither beside hr nor in ../lib/microtome; run 'make'%s%s",
                    name, option != NULL ? ", or name it with --" : "",
                    option != NULL ? option : "");
}

int launch_find_kernel(const struct options *o, char found[PATH_MAX], struct run_failure *failure)
{
    return launch_find_part("guest.elf", o->kernel, "kernel", found, failure);
}

/* qboot starts a PVH kernel in a tenth of SeaBIOS's time.  It comes with QEMU's data. */
bool launch_find_qboot(const char *qemu, char found[PATH_MAX])
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
