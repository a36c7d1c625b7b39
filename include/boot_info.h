/* What a boot path hands to the kernel, and gets back: the only place where PVH and UEFI meet. */
#ifndef INCLUDE_BOOT_INFO_H
#define INCLUDE_BOOT_INFO_H

#include <stdint.h>

#define BOOT_MEMORY_RANGES_MAX 64
#define BOOT_NAME_BYTES 64 /* NUL included */
#define BOOT_REPORT_BYTES 8192

enum boot_entry { BOOT_ENTRY_PVH = 1, BOOT_ENTRY_UEFI = 2 };
enum boot_memory_kind {
    BOOT_MEMORY_RAM = 1, /* the kernel's and the program's; some of it below 4 GiB */
    BOOT_MEMORY_RESERVED = 2,
    BOOT_MEMORY_BUFFER = 3, /* what leaves the run is kept here: guest/transport/transport.h */
};
enum boot_output {
    BOOT_OUTPUT_VIRTIO = 0, /* the ports of include/run_ports.h */
    BOOT_OUTPUT_MEMORY = 1, /* frames of include/run_stream.h, in the ranges BUFFER, in order */
    BOOT_OUTPUT_TCP = 2, /* the same frames, to a collector */
};

/* How a run ended, as far as the machine is concerned. */
enum boot_end {
    BOOT_END_NONE = 0, /* it never came back */
    BOOT_END_DONE = 1, /* everything was sent; the trace says how the program ended */
    BOOT_END_PANIC = 2, /* the kernel gave up: boot_result.report */
    BOOT_END_HUNG = 3, /* a CPU did not end the run when it was told to */
    BOOT_END_UNSENT = 4, /* TCP: the collector could not be reached, or lacks a part */
};

struct boot_memory_range {
    uint64_t base; /* physical, bytes; ranges do not overlap */
    uint64_t bytes;
    uint32_t kind; /* enum boot_memory_kind */
    uint32_t reserved;
};

struct boot_network { /* of BOOT_OUTPUT_TCP; IPv4 addresses in network byte order */
    uint32_t address; /* 0: DHCP */
    uint32_t netmask;
    uint32_t gateway; /* 0: none */
    uint32_t collector;
    uint16_t port; /* host byte order */
    uint16_t reserved[3];
    char token[BOOT_NAME_BYTES]; /* shared with the collector; empty: none */
    char machine[BOOT_NAME_BYTES]; /* names of the result: letters, digits, '-', '_', '.' */
    char run[BOOT_NAME_BYTES];
    uint8_t id[16]; /* random: one run, however often it connects */
};

struct boot_result { /* filled by the kernel; readable whatever happened */
    uint32_t end; /* enum boot_end */
    uint32_t exit_kind; /* of the program: enum hr_exit_kind, 0: it was never started */
    uint32_t exit_code;
    uint32_t report_bytes; /* text in report: a panic's, what is wrong with the network */
    uint64_t sent_bytes; /* MEMORY: frames' bytes in the BUFFER ranges, in order */
    uint64_t samples; /* that the trace holds so far */
    uint64_t lost_samples;
    char report[BOOT_REPORT_BYTES];
};

struct boot_info {
    uint32_t entry; /* enum boot_entry */
    uint32_t range_count;
    struct boot_memory_range ranges[BOOT_MEMORY_RANGES_MAX];
    uint64_t archive_base; /* physical address of run.cpio; 0 if there is none */
    uint64_t archive_bytes;
    uint64_t rsdp; /* physical address of the ACPI RSDP; 0 if the firmware gave none */
    uint64_t smbios; /* physical address of the SMBIOS entry point, either form; 0: search */
    uint64_t kernel_physical; /* where KERNEL_BASE + KERNEL_PHYSICAL is: a multiple of 2 MiB */
    uint64_t trampoline; /* a page below 1 MiB that the other CPUs start in */
    uint64_t timeout_ns; /* the program is stopped after so long (HR_EXIT_TIMEOUT); 0: never */
    uint64_t unix_ns; /* wall clock at the start; 0: the manifest's */
    uint32_t output; /* enum boot_output */
    uint32_t reserved;
    struct boot_network network;
    struct boot_result result;
    char command_line[1024]; /* NUL-terminated */
};

/* The kernel (guest/main.c): every boot path ends here, on the boot CPU in long mode, interrupts
 * off, with the kernel and the direct map of the first 4 GiB (include/kernel_layout.h) mapped.
 * `boot` is in the direct map, in memory that is no RAM range, or in the kernel's own.
 */
void kernel_main(struct boot_info *boot) __attribute__((noreturn));

#endif
