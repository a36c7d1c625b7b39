/* What a boot path passes to the kernel and gets back.  PVH and UEFI meet only here. */
#pragma once

#include <stdint.h>

#define BOOT_MEMORY_RANGES_MAX 64
#define BOOT_NAME_BYTES 64 /* NUL included */
#define BOOT_REPORT_BYTES 8192

enum boot_entry { BOOT_ENTRY_PVH = 1, BOOT_ENTRY_UEFI = 2 };
enum boot_memory_kind {
    BOOT_MEMORY_RAM = 1, /* for the kernel and the program; some of it must be below 4 GiB */
    BOOT_MEMORY_RESERVED = 2,
    BOOT_MEMORY_BUFFER = 3, /* keeps the output of the run: guest/transport/transport.h */
};
enum boot_output {
    BOOT_OUTPUT_VIRTIO = 0, /* the ports of include/run_ports.h */
    BOOT_OUTPUT_MEMORY = 1, /* frames of include/run_stream.h, in the ranges BUFFER, in order */
    BOOT_OUTPUT_TCP = 2, /* the frames of BOOT_OUTPUT_MEMORY, sent to a collector */
};

/* How a run ended, from the machine's point of view. */
enum boot_end {
    BOOT_END_NONE = 0, /* the kernel never returned */
    BOOT_END_DONE = 1, /* everything was sent; the trace says how the program ended */
    BOOT_END_PANIC = 2, /* the kernel panicked: see boot_result.report */
    BOOT_END_HUNG = 3, /* a CPU did not end the run when it was told to */
    BOOT_END_UNSENT = 4, /* TCP: the collector could not be reached, or lacks a part */
};

struct boot_memory_range {
    uint64_t base; /* physical, bytes; ranges do not overlap */
    uint64_t bytes;
    uint32_t kind; /* enum boot_memory_kind */
    uint32_t reserved;
};

struct boot_network { /* for BOOT_OUTPUT_TCP; IPv4 addresses are in network byte order */
    uint32_t address; /* 0: DHCP */
    uint32_t netmask;
    uint32_t gateway; /* 0: none */
    uint32_t collector;
    uint16_t port; /* host byte order */
    uint16_t reserved[3];
    char token[BOOT_NAME_BYTES]; /* shared with the collector; empty: none */
    char machine[BOOT_NAME_BYTES]; /* names of the result: letters, digits, '-', '_', '.' */
    char run[BOOT_NAME_BYTES];
    uint8_t id[16]; /* random; identifies the run across reconnections */
};

struct boot_result { /* filled by the kernel; valid however the run ended */
    uint32_t end; /* enum boot_end */
    uint32_t exit_kind; /* how the program ended: enum hr_exit_kind; 0: it was never started */
    uint32_t exit_code;
    uint32_t report_bytes; /* length of the text in report: of a panic, or about the network */
    uint64_t sent_bytes; /* MEMORY: bytes of frames in the BUFFER ranges, in order */
    uint64_t samples; /* in the trace so far */
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
    uint64_t smbios; /* physical address of the SMBIOS entry point, 32-bit or 64-bit; 0: search */
    uint64_t kernel_physical; /* where KERNEL_BASE + KERNEL_PHYSICAL is: a multiple of 2 MiB */
    uint64_t trampoline; /* a page below 1 MiB that the other CPUs start in */
    uint64_t timeout_ns; /* the program is stopped after this time (HR_EXIT_TIMEOUT); 0: never */
    uint64_t unix_ns; /* wall clock at the start; 0: use the manifest's */
    uint32_t output; /* enum boot_output */
    uint32_t repetition; /* of the archive on a stick, from 1; 0: there are none */
    struct boot_network network;
    struct boot_result result;
    char command_line[1024]; /* NUL-terminated */
};

/* The kernel's entry (guest/main.c).  Every boot path ends with this call: on the boot CPU, in long
 * mode, with interrupts off, and with the kernel and the direct map of the first 4 GiB
 * (include/kernel_layout.h) mapped.  `boot` must be in the direct map, either in the kernel's own
 * memory or outside every RAM range.
 */
void kernel_main(struct boot_info *boot) __attribute__((noreturn));
