/* The firmware that the loader runs on: its tables, clocks, and what is left when it is gone.
 * UEFI Specification 2.10; sections in the code.
 */
#ifndef BOOT_UEFI_FIRMWARE_H
#define BOOT_UEFI_FIRMWARE_H

#include <efi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct firmware {
    EFI_HANDLE image; /* the loader's own */
    EFI_SYSTEM_TABLE *table;
    EFI_BOOT_SERVICES *boot; /* NULL once they are left: only runtime services are there then */
    EFI_RUNTIME_SERVICES *runtime;
    uint64_t tsc_hz;
};
extern struct firmware firmware;

/* Measures the TSC and switches the watchdog off, which resets a machine after five minutes. */
void firmware_init(EFI_HANDLE image, EFI_SYSTEM_TABLE *table);

/* "not found", "the disk is full": for people. */
const char *firmware_error(EFI_STATUS status);

/* Pages of EfiLoaderData anywhere; 0: there are none. */
uint64_t firmware_pages(uint64_t bytes);
void firmware_free(uint64_t address, uint64_t bytes);

/* All handles that have a protocol; *count is 0 when there are none.  firmware_free_pool them. */
EFI_HANDLE *firmware_handles(const EFI_GUID *protocol, size_t *count);
void firmware_free_pool(void *memory);
void *firmware_protocol(EFI_HANDLE handle, const EFI_GUID *protocol); /* or NULL */

/* Wall clock: nanoseconds since 1970; 0 when the clock does not know. */
uint64_t firmware_unix_ns(void);
#define FIRMWARE_TIME_BYTES 32
void firmware_time_text(char out[FIRMWARE_TIME_BYTES]); /* ISO 8601; "" when unknown */
uint64_t firmware_elapsed_ns(uint64_t since_tsc);

/* Keys that were pressed before now do not count. */
void firmware_forget_keys(void);

/* Waits until a key is pressed, which is taken, or the time is over; ms 0: without end, or for
 * 100 ms where events do not work.  The CPU is idle meanwhile.  True: a key was pressed. */
bool firmware_wait_key(uint32_t ms);

/* Leaves boot services: 0, or what went wrong; nothing may be called of them afterwards but that.
 */
EFI_STATUS firmware_leave(void);

/* Does not return. */
void firmware_reset(bool power_off) __attribute__((noreturn));

#endif
