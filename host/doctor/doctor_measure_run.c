/* The runs of hr doctor --measure: a loop of known length, written here, as children of hr. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/doctor/doctor_measure.h"

#define LOAD_ADDRESS 0x400000u
#define LIMIT "120s" /* for one run, which takes well below a second on a real machine */
#define ARGUMENTS_MAX 32

struct loop_file {
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    uint8_t code[20];
};

/* mov $n, %ecx; 1: dec %ecx; jnz 1b; mov $231, %eax; xor %edi, %edi; syscall: exit_group(0) */
static void fill_loop(struct loop_file *file)
{
    static const uint8_t code[20] = {0xb9, 0, 0, 0, 0,    0xff, 0xc9, 0x75, 0xfc, 0xb8,
                                     0xe7, 0, 0, 0, 0x31, 0xff, 0x0f, 0x05, 0x0f, 0x0b};
    const uint32_t iterations = MEASURE_LOOP;

    *file = (struct loop_file){
        .header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
                               EV_CURRENT},
                   .e_type = ET_EXEC,
                   .e_machine = EM_X86_64,
                   .e_version = EV_CURRENT,
                   .e_entry = LOAD_ADDRESS + offsetof(struct loop_file, code),
                   .e_phoff = offsetof(struct loop_file, segment),
                   .e_ehsize = sizeof file->header,
                   .e_phentsize = sizeof file->segment,
                   .e_phnum = 1},
        .segment = {.p_type = PT_LOAD,
                    .p_flags = PF_R | PF_X,
                    .p_vaddr = LOAD_ADDRESS,
                    .p_filesz = sizeof *file,
                    .p_memsz = sizeof *file,
                    .p_align = 4096},
    };
    memcpy(file->code, code, sizeof code);
    memcpy(file->code + 1, &iterations, sizeof iterations);
}

static int write_loop(const char *path)
{
    struct loop_file file;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    ssize_t count;

    if (fd < 0)
        return -errno;
    fill_loop(&file);
    count = write(fd, &file, sizeof file);
    if (close(fd) != 0 || count != sizeof file)
        return count >= 0 ? -ENOSPC : -errno;
    return 0;
}

int doctor_measure_place_make(struct measure_place *p, struct run_failure *failure)
{
    int error;

    if (run_child_folder(p->directory, "measure", failure) != 0)
        return -1;
    snprintf(p->program, sizeof p->program, "%s/loop", p->directory);
    snprintf(p->trace, sizeof p->trace, "%s/hr.bin", p->directory);
    snprintf(p->errors, sizeof p->errors, "%s/errors", p->directory);
    error = write_loop(p->program);
    return error == 0 ? 0 : run_fail(failure, "%s: %s", p->program, strerror(-error));
}

void doctor_measure_place_remove(const struct measure_place *p)
{
    if (p->directory[0] == 0)
        return;
    unlink(p->program);
    unlink(p->trace);
    unlink(p->errors);
    rmdir(p->directory);
}

static const char *mode_name(enum hr_mode mode)
{
    return mode == HR_MODE_OFF ? "off" : trace_info_mode(mode);
}

static const char *event_list(unsigned int events)
{
    switch (events) {
    case 0:
        return "none";
    case 1:
        return "instructions";
    case 2:
        return "instructions,cycles";
    default:
        return "instructions,cycles,branches,branch-misses,cache-misses";
    }
}

static int run_loop(const struct measure_place *p, const struct measure_options *o,
                    enum hr_mode mode, unsigned int events, struct run_failure *failure)
{
    char *arguments[ARGUMENTS_MAX] = {(char *)"hr", (char *)"run", (char *)"-q"};
    char period[32];
    size_t count = 3;

    snprintf(period, sizeof period, "%u", MEASURE_PERIOD);
    run_child_option(arguments, &count, "-o", p->trace);
    run_child_option(arguments, &count, "--timeout", LIMIT);
    run_child_option(arguments, &count, "--accel", o->accel);
    run_child_option(arguments, &count, "--qemu", o->qemu);
    run_child_option(arguments, &count, "--cpu", o->cpu);
    run_child_option(arguments, &count, "--pin", o->pin);
    run_child_option(arguments, &count, "--mode", mode_name(mode));
    run_child_option(arguments, &count, "--event", event_list(events));
    if (mode == HR_MODE_OVERFLOW)
        run_child_option(arguments, &count, "--count", period);
    else if (mode != HR_MODE_OFF)
        run_child_option(arguments, &count, "--interval", "200us");
    arguments[count] = (char *)p->program;
    unlink(p->trace);
    return run_child(arguments, NULL, p->errors, failure);
}

int doctor_measure_loop(const struct measure_place *p, const struct measure_options *o,
                        enum hr_mode mode, unsigned int events, struct summary *summary,
                        char reason[MEASURE_REASON_BYTES], struct run_failure *failure)
{
    int status = run_loop(p, o, mode, events, failure);
    int error;

    if (status < 0)
        return -1;
    run_child_reason(p->errors, reason);
    error = summary_from_file(p->trace, summary);
    if (status == 0 && error == 0)
        return 0;
    if (error == 0 && summary->info.has_exit && summary->info.exit.kind == HR_EXIT_REFUSED &&
        summary->info.event_count == 0 && events > 1)
        return 1;
    return run_fail(failure, "the run with --mode %s and %u events ended with status %d: %s",
                    mode_name(mode), events, status, reason);
}
