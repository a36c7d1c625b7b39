/* Fills the findings of hr doctor. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "host/base/text.h"
#include "host/doctor/doctor_finding.h"
#include "host/doctor/doctor_read.h"

static void fill(char *out, size_t room, const char *format, va_list arguments)
{
    char raw[DOCTOR_REMEDY_BYTES];

    vsnprintf(raw, sizeof raw, format, arguments);
    text_escape(out, room, raw);
}

void doctor_finding_set(struct doctor_finding *f, enum doctor_state state, const char *effect,
                        const char *found, ...)
{
    va_list arguments;

    f->state = state;
    if (effect != NULL)
        doctor_finding_effect(f, "%s", effect);
    va_start(arguments, found);
    fill(f->found, sizeof f->found, found, arguments);
    va_end(arguments);
}

void doctor_finding_effect(struct doctor_finding *f, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fill(f->effect, sizeof f->effect, format, arguments);
    va_end(arguments);
}

void doctor_finding_command(struct doctor_finding *f, const char *format, ...)
{
    va_list arguments;

    f->remedy_is_command = true;
    va_start(arguments, format);
    fill(f->remedy, sizeof f->remedy, format, arguments);
    va_end(arguments);
}

void doctor_finding_advice(struct doctor_finding *f, const char *format, ...)
{
    va_list arguments;

    f->remedy_is_command = false;
    va_start(arguments, format);
    fill(f->remedy, sizeof f->remedy, format, arguments);
    va_end(arguments);
}

void doctor_finding_unreadable(struct doctor_finding *f, const char *path, int error)
{
    if (error == -EBADMSG)
        doctor_finding_set(f, DOCTOR_UNKNOWN, NULL, "%s makes no sense", path);
    else
        doctor_finding_set(f, DOCTOR_UNKNOWN, NULL, "%s: %s", path, strerror(-error));
}

void doctor_finding_kernel_parameters(const struct doctor_host *host, struct doctor_finding *f,
                                      const char *parameters)
{
    if (doctor_read_exists(host, "/etc/default/grub") &&
        doctor_read_exists(host, "/usr/sbin/update-grub"))
        doctor_finding_command(f,
                               "sudo sed -i 's/^GRUB_CMDLINE_LINUX=\"/&%s /' /etc/default/grub && "
                               "sudo update-grub && sudo reboot",
                               parameters);
    else if (doctor_read_exists(host, "/usr/sbin/grubby"))
        doctor_finding_command(f, "sudo grubby --update-kernel=ALL --args='%s' && sudo reboot",
                               parameters);
    else
        doctor_finding_advice(f, "start the kernel with %s", parameters);
}

/* Only loaded modules, not built-in ones, have an initialisation state. */
void doctor_finding_module_parameter(const struct doctor_host *host, struct doctor_finding *f,
                                     const char *module, const char *loaded_by,
                                     const char *parameter)
{
    char path[128];
    char text[128];

    snprintf(path, sizeof path, "/sys/module/%s/initstate", module);
    if (!doctor_read_exists(host, path)) {
        snprintf(text, sizeof text, "%s.%s=1", module, parameter);
        doctor_finding_kernel_parameters(host, f, text);
        return;
    }
    snprintf(text, sizeof text, "%s%s%s", loaded_by, strcmp(loaded_by, module) != 0 ? " " : "",
             strcmp(loaded_by, module) != 0 ? module : "");
    doctor_finding_command(f,
                           "echo 'options %s %s=1' | sudo tee -a /etc/modprobe.d/microtome.conf && "
                           "sudo modprobe -r %s && sudo modprobe %s",
                           module, parameter, text, loaded_by);
}
