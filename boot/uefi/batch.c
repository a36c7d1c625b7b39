/* Prepares and performs the batch. */
#include "boot/uefi/batch.h"

#include <string.h>

#include "boot/uefi/machine.h"
#include "boot/uefi/progress.h"
#include "boot/uefi/results.h"
#include "boot/uefi/run.h"
#include "boot/uefi/say.h"
#include "boot/uefi/screen.h"
#include "boot/uefi/table.h"
#include "include/version.h"
#include "lib/format.h"

#define CONF_PATH "\\microtome.conf"

struct batch batch;

static bool read_conf(void)
{
    char why[VOLUME_WHY_BYTES];
    struct boot_conf_error error;
    struct volume_file file;
    int status;

    if (!volume_read(CONF_PATH, BOOT_CONF_BYTES_MAX, &file, why)) {
        say_error("%s", why);
        return false;
    }
    status =
        boot_conf_parse((const char *)(uintptr_t)file.address, file.bytes, &batch.conf, &error);
    volume_unload(&file);
    if (status == 0)
        return true;
    if (error.line)
        say_error("%s: line %u: %s", CONF_PATH, error.line, error.text);
    else
        say_error("%s: %s", CONF_PATH, error.text);
    return false;
}

static bool load_kernel(void)
{
    char why[MEMORY_WHY_BYTES > VOLUME_WHY_BYTES ? MEMORY_WHY_BYTES : VOLUME_WHY_BYTES];
    const char *wrong;

    if (!volume_load(&batch.conf.kernel, &batch.kernel_file, why)) {
        say_error("the kernel cannot be used: %s", why);
        return false;
    }
    wrong = kernel_image_parse((const void *)(uintptr_t)batch.kernel_file.address,
                               batch.kernel_file.bytes, &batch.kernel);
    if (wrong != NULL) {
        say_error("the kernel cannot be used: %s: %s", batch.conf.kernel.path, wrong);
        return false;
    }
    if (memory_init(&batch.memory, batch.kernel.bytes, why))
        return true;
    say_error("%s", why);
    return false;
}

static void pending(struct table_row *row)
{
    struct run run;

    run_find(&run, row->number);
    *row = run.row;
    if (progress_state(row->number) == PROGRESS_WAITS)
        return;
    row->state = progress_state(row->number) == PROGRESS_ENDED ? TABLE_DONE : TABLE_FAILED;
    format_text(row->outcome, sizeof row->outcome, "%s",
                row->state == TABLE_DONE ? "before" : "given up");
}

static void say_left_out(void)
{
    uint32_t ended = 0, given_up = 0;

    for (uint32_t number = 1; number <= batch.total; number++) {
        ended += progress_state(number) == PROGRESS_ENDED;
        given_up += progress_state(number) == PROGRESS_GIVEN_UP;
    }
    if (ended)
        say("%u of %u runs ended before, and are left out", ended, batch.total);
    if (given_up)
        say("%u of %u runs were started %u times and did not end: they are left out", given_up,
            batch.total, BOOT_CONF_STARTS_MAX);
}

static bool read_progress(void)
{
    char why[VOLUME_WHY_BYTES];

    for (uint32_t i = 0; i < batch.conf.run_count; i++)
        batch.total += batch.conf.runs[i].repeat;
    if (progress_init(batch.conf.progress, batch.total, why))
        return true;
    say_error("%s", why);
    return false;
}

static void show_header(void)
{
    char text[SCREEN_COLUMNS_MAX];

    format_text(text, sizeof text, "Microtome %s on %s: %u run%s, results %s%s", VERSION_TEXT,
                batch.machine, batch.total, batch.total == 1 ? "" : "s",
                batch.conf.network ? "over the network" : "on the stick",
                machine_secure_boot() ? " (Secure Boot is on)" : "");
    say("%s", text);
    say_left_out();
    table_init(text, batch.total, pending);
}

bool batch_prepare(void)
{
    char why[VOLUME_WHY_BYTES];

    if (!volume_open(why)) {
        say_error("%s", why);
        return false;
    }
    if (!read_conf() || !read_progress())
        return false;
    if (batch.conf.machine[0])
        memcpy(batch.machine, batch.conf.machine, sizeof batch.machine);
    else
        machine_name(batch.machine);
    batch.rsdp = machine_rsdp();
    batch.smbios = machine_smbios();
    show_header();
    if (!load_kernel())
        return false;
    if (batch.conf.network)
        machine_release_network();
    if (batch.conf.exit_firmware)
        return true;
    batch.keeps = results_init(batch.conf.part_bytes, why);
    if (!batch.keeps)
        say_error("%s", why);
    return batch.keeps || batch.conf.network;
}

/* firmware = exit: loads everything that the runs need before the stick becomes unreadable. */
static bool leave_firmware(void)
{
    char why[MEMORY_WHY_BYTES > VOLUME_WHY_BYTES ? MEMORY_WHY_BYTES : VOLUME_WHY_BYTES];
    EFI_STATUS status;

    for (uint32_t i = 0; i < batch.conf.run_count; i++)
        if (!volume_load(&batch.conf.runs[i].archive, &batch.archives[i], why)) {
            say_error("run %s is left out: %s", batch.conf.runs[i].name, why);
            batch.archives[i].address = 0;
        }
    if (!memory_take(&batch.memory, &batch.conf, why)) {
        say_error("%s", why);
        return false;
    }
    say_status("the firmware is left now: see the serial port, or the collector");
    status = firmware_leave();
    if (!EFI_ERROR(status)) {
        say("left the firmware's boot services");
        return true;
    }
    say_error("the firmware does not let itself be left: %s", firmware_error(status));
    return false;
}

void batch_perform(void)
{
    static struct run run;

    if (batch.conf.exit_firmware && !leave_firmware())
        return;
    for (uint32_t number = 1; number <= batch.total; number++) {
        run_find(&run, number);
        if (firmware.boot == NULL && !batch.archives[run.index].address)
            continue;
        if (progress_state(number) != PROGRESS_WAITS) {
            pending(&run.row);
            table_left_out(&run.row);
            continue;
        }
        progress_starts(number);
        run_perform(&run);
        if (run.kept && outcome_final(&run.outcome))
            progress_ended(number);
        batch.good += outcome_good(&run.outcome) && run.kept;
    }
    say("%u of %u runs ended as planned", batch.good, batch.total);
}
