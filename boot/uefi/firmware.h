/* The firmware that the loader runs on: its tables and clocks, and what remains after boot
 * services.  UEFI Specification 2.10; sections in the code.
 */
#pragma once

#include <efi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct firmware {
    EFI_HANDLE image; /* of the loader itself */
    EFI_SYSTEM_TABLE *table;
    EFI_BOOT_SERVICES *boot; /* NULL once they are left: only runtime services remain then */
    EFI_RUNTIME_SERVICES *runtime;
    uint64_t tsc_hz;
};
extern struct firmware firmware;

/* Measures the TSC, and disables the watchdog, which resets a machine after five minutes. */
void firmware_init(EFI_HANDLE image, EFI_SYSTEM_TABLE *table);

/* Returns "not found", "the disk is full": for people. */
const char *firmware_error(EFI_STATUS status);

/* Allocates pages of EfiLoaderData at any address.  Returns 0 if there are none. */
uint64_t firmware_pages(uint64_t bytes);
void firmware_free(uint64_t address, uint64_t bytes);

/* Returns all handles that have a protocol; *count is 0 if there are none.  The caller frees them
 * with firmware_free_pool. */
EFI_HANDLE *firmware_handles(const EFI_GUID *protocol, size_t *count);
void firmware_free_pool(void *memory);
void *firmware_protocol(EFI_HANDLE handle, const EFI_GUID *protocol); /* or NULL */

/* Returns the wall clock in nanoseconds since 1970; 0 if it is unknown. */
uint64_t firmware_unix_ns(void);
#define FIRMWARE_TIME_BYTES 32
void firmware_time_text(char out[FIRMWARE_TIME_BYTES]); /* ISO 8601; "" when unknown */
uint64_t firmware_elapsed_ns(uint64_t since_tsc);

/* Discards the keys that were pressed before. */
void firmware_forget_keys(void);

/* Waits with an idle CPU until a key is pressed, which it consumes, or the time has passed.  ms 0:
 * no limit, or 100 ms where events do not work.  Returns true if a key was pressed. */
bool firmware_wait_key(uint32_t ms);

/* Leaves boot services.  Returns 0 or an error; afterwards no boot service but this may be called.
 */
EFI_STATUS firmware_leave(void);

/* Does not return. */
void firmware_reset(bool power_off) __attribute__((noreturn));
