/* Calls the firmware. */
#include "boot/uefi/firmware.h"

#include "include/kernel_layout.h"
#include "lib/array.h"
#include "lib/format.h"
#include "lib/x86.h"

#define MAP_SPARE_BYTES 4096 /* allocating memory for the map may lengthen it */

struct firmware firmware;

/* Appendix D, "Status Codes": errors of file systems, disks and memory. */
static const char *const errors[] = {
    [1] = "load error",
    [2] = "invalid parameter",
    [3] = "not supported",
    [4] = "bad buffer size",
    [5] = "buffer too small",
    [6] = "not ready",
    [7] = "device error",
    [8] = "the disk is write-protected",
    [9] = "out of memory",
    [10] = "the file system is damaged",
    [11] = "the disk is full",
    [12] = "no medium",
    [13] = "the medium was changed",
    [14] = "not found",
    [15] = "access denied",
    [18] = "time-out",
    [21] = "aborted",
    [26] = "security violation",
    [27] = "checksum error",
};

const char *firmware_error(EFI_STATUS status)
{
    uint64_t code = status & ~EFI_ERROR_MASK;

    if (code < ARRAY_COUNT(errors) && errors[code] != NULL)
        return errors[code];
    return EFI_ERROR(status) ? "unknown error" : "a warning";
}

/* Stall (7.5) uses the firmware's own time. */
static uint64_t measure_tsc(void)
{
    const uint32_t us = 20000;
    uint64_t start = x86_rdtsc(), hz;

    firmware.boot->Stall(us);
    hz = (x86_rdtsc() - start) * (1000000 / us);
    return hz ? hz : 1;
}

void firmware_init(EFI_HANDLE image, EFI_SYSTEM_TABLE *table)
{
    firmware = (struct firmware){
        .image = image,
        .table = table,
        .boot = table->BootServices,
        .runtime = table->RuntimeServices,
    };
    firmware.boot->SetWatchdogTimer(0, 0, 0, NULL);
    firmware.tsc_hz = measure_tsc();
}

static uint64_t pages_of(uint64_t bytes)
{
    return (bytes + PAGE_BYTES - 1) / PAGE_BYTES;
}

uint64_t firmware_pages(uint64_t bytes)
{
    EFI_PHYSICAL_ADDRESS address = 0;

    if (EFI_ERROR(firmware.boot->AllocatePages(AllocateAnyPages, EfiLoaderData, pages_of(bytes),
                                               &address)))
        return 0;
    return address;
}

void firmware_free(uint64_t address, uint64_t bytes)
{
    if (address)
        firmware.boot->FreePages(address, pages_of(bytes));
}

EFI_HANDLE *firmware_handles(const EFI_GUID *protocol, size_t *count)
{
    EFI_GUID guid = *protocol;
    EFI_HANDLE *handles = NULL;
    UINTN found = 0;

    *count = 0;
    if (EFI_ERROR(firmware.boot->LocateHandleBuffer(ByProtocol, &guid, NULL, &found, &handles)))
        return NULL;
    *count = found;
    return handles;
}

void firmware_free_pool(void *memory)
{
    if (memory != NULL)
        firmware.boot->FreePool(memory);
}

void *firmware_protocol(EFI_HANDLE handle, const EFI_GUID *protocol)
{
    EFI_GUID guid = *protocol;
    void *interface = NULL;

    if (EFI_ERROR(firmware.boot->HandleProtocol(handle, &guid, &interface)))
        return NULL;
    return interface;
}

/* 8.3: the clock may be unset, absent or invalid. */
static bool read_clock(EFI_TIME *time)
{
    if (EFI_ERROR(firmware.runtime->GetTime(time, NULL)))
        return false;
    return time->Year >= 1970 && time->Year <= 9999 && time->Month >= 1 && time->Month <= 12 &&
           time->Day >= 1 && time->Day <= 31 && time->Hour <= 23 && time->Minute <= 59 &&
           time->Second <= 59;
}

static bool has_zone(const EFI_TIME *time)
{
    return time->TimeZone >= -1440 && time->TimeZone <= 1440;
}

/* Returns days since 1970-01-01 in the Gregorian calendar.  Years begin in March here, so that a
 * leap day is their last. */
static uint64_t days(const EFI_TIME *time)
{
    uint64_t year = time->Month > 2 ? time->Year : time->Year - 1u;
    uint64_t month = (time->Month + 9u) % 12;

    return year * 365 + year / 4 - year / 100 + year / 400 + (month * 306 + 5) / 10 + time->Day -
           1 - 719468;
}

uint64_t firmware_unix_ns(void)
{
    static uint64_t last_ns, last_tsc;
    EFI_TIME time;
    int64_t seconds;

    if (firmware.boot == NULL) /* the kernel may own the clock's registers by now */
        return last_ns ? last_ns + firmware_elapsed_ns(last_tsc) : 0;
    if (!read_clock(&time))
        return 0;
    seconds =
        (int64_t)(days(&time) * 86400 + time.Hour * 3600ull + time.Minute * 60ull + time.Second);
    if (has_zone(&time))
        seconds += time.TimeZone * 60ll; /* local time = UTC - TimeZone */
    if (seconds <= 0 || seconds > INT64_MAX / 1000000000)
        return 0;
    last_tsc = x86_rdtsc();
    last_ns = (uint64_t)seconds * 1000000000 + time.Nanosecond % 1000000000;
    return last_ns;
}

void firmware_time_text(char out[FIRMWARE_TIME_BYTES])
{
    EFI_TIME time;
    int bytes;

    out[0] = '\0';
    if (firmware.boot == NULL || !read_clock(&time))
        return;
    bytes = format_text(out, FIRMWARE_TIME_BYTES, "%04u-%02u-%02uT%02u:%02u:%02u", time.Year,
                        time.Month, time.Day, time.Hour, time.Minute, time.Second);
    if (has_zone(&time) && bytes > 0) {
        unsigned east = (unsigned)(time.TimeZone > 0 ? time.TimeZone : -time.TimeZone);

        format_text(out + bytes, FIRMWARE_TIME_BYTES - (size_t)bytes, "%c%02u:%02u",
                    time.TimeZone > 0 ? '-' : '+', east / 60, east % 60);
    }
}

uint64_t firmware_elapsed_ns(uint64_t since_tsc)
{
    uint64_t ticks = x86_rdtsc() - since_tsc;

    return ticks / firmware.tsc_hz * 1000000000 +
           ticks % firmware.tsc_hz * 1000000 / (firmware.tsc_hz / 1000 + 1);
}

#define KEYS_MOST 1000 /* for a console that always reports a key */

static bool take_key(void)
{
    EFI_INPUT_KEY key;

    return firmware.table->ConIn != NULL &&
           !EFI_ERROR(firmware.table->ConIn->ReadKeyStroke(firmware.table->ConIn, &key));
}

void firmware_forget_keys(void)
{
    for (int i = 0; i < KEYS_MOST && take_key(); i++)
        ;
}

/* 7.1: WaitForEvent halts the CPU; Stall is for firmware whose events do not work. */
bool firmware_wait_key(uint32_t ms)
{
    EFI_EVENT events[2];
    UINTN count = 0, signalled;
    EFI_STATUS status = EFI_UNSUPPORTED;

    if (firmware.table->ConIn != NULL)
        events[count++] = firmware.table->ConIn->WaitForKey;
    if (ms && !EFI_ERROR(firmware.boot->CreateEvent(EVT_TIMER, 0, NULL, NULL, &events[count]))) {
        if (!EFI_ERROR(firmware.boot->SetTimer(events[count], TimerRelative, ms * 10000ull)))
            status = firmware.boot->WaitForEvent(count + 1, events, &signalled);
        firmware.boot->CloseEvent(events[count]);
    } else if (!ms && count) {
        status = firmware.boot->WaitForEvent(count, events, &signalled);
    }
    if (EFI_ERROR(status))
        firmware.boot->Stall((ms ? ms : 100) * 1000ull);
    return take_key();
}

/* 7.4.6: the map's key must be that of the latest map.  The firmware's timers may have changed the
 * map since, which is reported as an error.  After the first try only the map may be asked for.
 */
EFI_STATUS firmware_leave(void)
{
    EFI_MEMORY_DESCRIPTOR *map = NULL;
    UINTN bytes = 0, room, key, descriptor_bytes;
    UINT32 version;
    EFI_STATUS status;

    firmware.boot->GetMemoryMap(&bytes, NULL, &key, &descriptor_bytes, &version);
    room = bytes + MAP_SPARE_BYTES;
    firmware_unix_ns(); /* reads the clock for later calls */
    map = (void *)(uintptr_t)firmware_pages(room);
    if (map == NULL)
        return EFI_OUT_OF_RESOURCES;
    status = EFI_INVALID_PARAMETER;
    for (int i = 0; i < 4 && status == EFI_INVALID_PARAMETER; i++) {
        bytes = room;
        status = firmware.boot->GetMemoryMap(&bytes, map, &key, &descriptor_bytes, &version);
        if (EFI_ERROR(status))
            return status;
        status = firmware.boot->ExitBootServices(firmware.image, key);
    }
    if (!EFI_ERROR(status))
        firmware.boot = NULL;
    return status;
}

void firmware_reset(bool power_off)
{
    firmware.runtime->ResetSystem(power_off ? EfiResetShutdown : EfiResetCold, EFI_SUCCESS, 0,
                                  NULL);
    for (;;)
        __asm__ volatile("cli; hlt");
}
