/* Performs one run. */
#include "boot/uefi/run.h"

#include <string.h>

#include "boot/uefi/firmware.h"
#include "boot/uefi/machine.h"
#include "boot/uefi/results.h"
#include "boot/uefi/say.h"
#include "lib/format.h"
#include "lib/x86.h"

static struct run *writing; /* the run whose results are being written */

static const struct boot_conf_run *conf_of(const struct run *run)
{
    return &batch.conf.runs[run->index];
}

void run_find(struct run *run, uint32_t number)
{
    uint32_t before = 0;

    memset(run, 0, sizeof *run);
    while (number - before > batch.conf.runs[run->index].repeat)
        before += batch.conf.runs[run->index++].repeat;
    run->number = number;
    run->repetition = number - before;
    run->row.number = number;
    if (conf_of(run)->repeat > 1)
        format_text(run->row.name, sizeof run->row.name, "%s #%u", conf_of(run)->name,
                    run->repetition);
    else
        format_text(run->row.name, sizeof run->row.name, "%s", conf_of(run)->name);
}

/* A collector names results by machine and run, so repetitions need different names. */
static void network_name(const struct run *run, char out[BOOT_NAME_BYTES])
{
    char suffix[12] = "";
    size_t bytes = strlen(conf_of(run)->name), suffix_bytes;

    if (conf_of(run)->repeat > 1)
        format_text(suffix, sizeof suffix, "-%u", run->repetition);
    suffix_bytes = strlen(suffix);
    if (bytes > BOOT_NAME_BYTES - 1 - suffix_bytes)
        bytes = BOOT_NAME_BYTES - 1 - suffix_bytes;
    memcpy(out, conf_of(run)->name, bytes);
    memcpy(out + bytes, suffix, suffix_bytes + 1);
}

static void fill_network(struct boot_network *network, const struct run *run)
{
    const struct boot_conf *conf = &batch.conf;

    network->address = conf->address;
    network->netmask = conf->netmask;
    network->gateway = conf->gateway;
    network->collector = conf->collector;
    network->port = conf->port;
    memcpy(network->token, conf->token, sizeof network->token);
    memcpy(network->machine, batch.machine, sizeof network->machine);
    network_name(run, network->run);
    machine_random(network->id);
}

static void fill_info(struct boot_info *info, const struct run *run)
{
    const struct memory *memory = &batch.memory;

    memset(info, 0, sizeof *info);
    info->entry = BOOT_ENTRY_UEFI;
    info->range_count = memory->plan.range_count;
    memcpy(info->ranges, memory->plan.ranges, sizeof info->ranges);
    info->archive_base = batch.archives[run->index].address;
    info->archive_bytes = batch.archives[run->index].bytes;
    info->rsdp = batch.rsdp;
    info->smbios = batch.smbios;
    info->kernel_physical = memory->kernel;
    info->trampoline = memory->trampoline;
    info->timeout_ns = conf_of(run)->timeout_ns;
    info->repetition = run->repetition;
    info->unix_ns = firmware_unix_ns();
    info->output = batch.conf.network ? BOOT_OUTPUT_TCP : BOOT_OUTPUT_MEMORY;
    if (batch.conf.network)
        fill_network(&info->network, run);
}

/* The kernel's calling convention is not the firmware's.  The firmware's timer must not tick during
 * the call, because the kernel has its own interrupts (7.1, "Task Priority Services"). */
static uint64_t call_kernel(struct boot_info *info)
{
    typedef uint64_t __attribute__((sysv_abi)) entry_function(struct boot_info *);
    entry_function *entry = (entry_function *)(uintptr_t)(batch.memory.kernel + batch.kernel.entry);
    EFI_TPL before = firmware.boot != NULL ? firmware.boot->RaiseTPL(TPL_HIGH_LEVEL) : 0;
    uint64_t end = entry(info);

    if (firmware.boot != NULL)
        firmware.boot->RestoreTPL(before);
    return end;
}

static void start(struct run *run)
{
    struct boot_info *info = batch.memory.info;
    uint64_t start_tsc, end;

    kernel_image_place(&batch.kernel, (void *)(uintptr_t)batch.kernel_file.address,
                       (void *)(uintptr_t)batch.memory.kernel);
    fill_info(info, run);
    firmware_time_text(run->started);
    start_tsc = x86_rdtsc();
    end = call_kernel(info);
    run->elapsed_ns = firmware_elapsed_ns(start_tsc);
    outcome_of_kernel(&run->outcome, end, &info->result);
}

/* Loads the archive, which stays for further repetitions. */
static bool load_archive(struct run *run)
{
    char why[VOLUME_WHY_BYTES];
    struct volume_file *archive = &batch.archives[run->index];

    if (archive->address || volume_load(&conf_of(run)->archive, archive, why))
        return true;
    outcome_not_started(&run->outcome, why);
    return false;
}

static bool take_memory(struct run *run)
{
    char why[MEMORY_WHY_BYTES];

    if (memory_take(&batch.memory, &batch.conf, why))
        return true;
    outcome_not_started(&run->outcome, why);
    return false;
}

static void show(struct run *run, enum table_state state)
{
    run->row.state = state;
    outcome_short(&run->outcome, run->row.outcome, sizeof run->row.outcome);
    run->row.samples = run->outcome.samples;
    run->row.lost = run->outcome.lost_samples;
    run->row.elapsed_ns = run->elapsed_ns;
    table_set(&run->row);
}

static void show_written(uint64_t bytes)
{
    if (writing != NULL)
        say_status("run %u of %u: writing results: %lu KiB of this file", writing->number,
                   batch.total, bytes / 1024);
}

/* Reads the run's output in the BUFFER ranges.  For a program that was not started, the kernel's
 * last notice is the reason. */
static void read_frames(struct run *run, struct frames *frames)
{
    char notice[OUTCOME_TEXT_BYTES];

    frames_check(frames, batch.memory.plan.ranges, batch.memory.plan.range_count,
                 batch.conf.network ? 0 : run->outcome.sent_bytes);
    if (!outcome_lacks_reason(&run->outcome))
        return;
    frames_last_line(frames, RUN_STREAM_LOG, "notice: ", notice, sizeof notice);
    outcome_reason(&run->outcome, notice);
}

/* With output over the network, only the loader's own data are kept. */
static void keep(struct run *run, const struct frames *frames)
{
    const struct boot_result *result = &batch.memory.info->result;
    struct results_run words = {
        .run = conf_of(run)->name,
        .archive = conf_of(run)->archive.path,
        .machine = batch.machine,
        .started = run->started,
        .repetition = run->repetition,
        .elapsed_ns = run->elapsed_ns,
        .outcome = &run->outcome,
        .frames = frames,
        .log_only = batch.conf.network != 0,
        .written = show_written,
    };

    if (frames->damage != NULL)
        say_error("what the run left is damaged: %s: %lu of %lu bytes are good", frames->damage,
                  frames->bytes, run->outcome.sent_bytes);
    if (run->outcome.end != OUTCOME_NOT_STARTED) {
        words.report = result->report;
        words.report_bytes =
            result->report_bytes < BOOT_REPORT_BYTES ? result->report_bytes : BOOT_REPORT_BYTES;
    }
    writing = run;
    run->kept = results_write(&words, &run->row.bytes) && frames->damage == NULL;
    writing = NULL;
    say_status("%s", "");
}

static void say_end(const struct run *run)
{
    char text[OUTCOME_TEXT_BYTES + 96];

    outcome_text(&run->outcome, text, sizeof text);
    say("run %u of %u: %s: %s", run->number, batch.total, conf_of(run)->name, text);
    if (run->outcome.end != OUTCOME_NOT_STARTED)
        say("run %u of %u: %lu samples, %lu lost, %lu.%03u s", run->number, batch.total,
            run->outcome.samples, run->outcome.lost_samples, run->elapsed_ns / 1000000000,
            (unsigned)(run->elapsed_ns / 1000000 % 1000));
}

/* Frees memory, except after the last run: only a reset follows, and firmware that was built for
 * debugging overwrites all freed memory, which takes seconds per GiB in an emulator. */
static void give_back(const struct run *run, enum boot_memory_kind kind)
{
    if (run->number < batch.total)
        memory_free(&batch.memory, kind);
}

void run_perform(struct run *run)
{
    const bool mine = firmware.boot != NULL; /* memory and files are available */
    struct frames frames;

    say_log_begin();
    show(run, TABLE_RUNNING);
    say("run %u of %u: %s: starts", run->number, batch.total, run->row.name);
    if (!mine) {
        start(run);
        say_end(run);
        run->kept = true;
        return;
    }
    if (load_archive(run) && take_memory(run)) {
        start(run);
        give_back(run, BOOT_MEMORY_RAM);
    }
    if (run->repetition == conf_of(run)->repeat)
        volume_unload(&batch.archives[run->index]);
    read_frames(run, &frames);
    say_end(run);
    show(run, TABLE_WRITING);
    if (batch.keeps)
        keep(run, &frames);
    else
        run->kept = true;
    give_back(run, BOOT_MEMORY_BUFFER);
    batch.memory.plan.range_count = 0;
    show(run, outcome_good(&run->outcome) && run->kept ? TABLE_DONE : TABLE_FAILED);
}
