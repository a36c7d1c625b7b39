/* Calibrates the TSC against HPET, ACPI PM timer or PIT. */
#include "drivers/clock/tsc_calibrate.h"

#include <stdbool.h>
#include <stddef.h>

#include "drivers/mmio.h"
#include "drivers/platform.h"
#include "lib/array.h"
#include "lib/x86.h"

#define MEASUREMENTS 3
#define FEMTOSECONDS_PER_SECOND 1000000000000000ull
#define PM_TIMER_HZ 3579545u
#define PIT_HZ 1193182u
#define READING_SPINS 1024 /* between two readings: a microsecond */
#define STUCK_TICKS (1ull << 31) /* no timer stays unchanged that long */

/* IA-PC HPET specification 1.0a, 2.3 */
enum {
    HPET_CAPABILITIES = 0x00,
    HPET_PERIOD_FS = 0x04,
    HPET_CONFIGURATION = 0x10,
    HPET_COUNTER = 0xf0,
    HPET_ENABLE = 1,
    HPET_PERIOD_FS_MAX = 100000000,
    HPET_BYTES = 1024,
};

/* Intel 8254 data sheet; port 61H gates channel 2 */
enum {
    PIT_CHANNEL_2 = 0x42,
    PIT_COMMAND = 0x43,
    PIT_GATE = 0x61,
    PIT_CHANNEL_2_MODE_0 = 0xb0, /* low byte then high byte, binary */
    PIT_LATCH_CHANNEL_2 = 0x80,
};

struct reference { /* an up-counter of known rate */
    uint32_t (*read)(const struct reference *reference);
    void (*close)(const struct reference *reference); /* as it was before open; NULL: it still is */
    uint32_t found; /* the register that close writes */
    uint32_t mask;
    uint64_t hz;
    volatile uint8_t *registers;
    uint16_t port;
};

struct reading {
    uint32_t count;
    uint64_t tsc; /* the middle of the two readings around the timer's */
    uint64_t uncertainty; /* the distance between them */
};

static uint32_t hpet_read(const struct reference *reference)
{
    return mmio_read32(reference->registers + HPET_COUNTER);
}

static uint32_t pm_timer_read(const struct reference *reference)
{
    return x86_in32(reference->port);
}

static uint32_t pit_read(const struct reference *)
{
    uint32_t low;

    x86_out8(PIT_COMMAND, PIT_LATCH_CHANNEL_2);
    low = x86_in8(PIT_CHANNEL_2);
    return 0xffffu - (low | (uint32_t)x86_in8(PIT_CHANNEL_2) << 8);
}

static void hpet_close(const struct reference *reference)
{
    mmio_write32(reference->registers + HPET_CONFIGURATION, reference->found);
}

static bool hpet_open(const struct acpi_machine *machine, struct reference *reference)
{
    volatile uint8_t *registers;
    uint32_t period_fs, configuration;

    if (machine->hpet_base == 0)
        return false;
    registers = platform_map_device(machine->hpet_base, HPET_BYTES);
    period_fs = mmio_read32(registers + HPET_PERIOD_FS);
    if (period_fs == 0 || period_fs > HPET_PERIOD_FS_MAX)
        return false;
    configuration = mmio_read32(registers + HPET_CONFIGURATION);
    mmio_write32(registers + HPET_CONFIGURATION, configuration | HPET_ENABLE);
    *reference = (struct reference){.read = hpet_read,
                                    .close = hpet_close,
                                    .found = configuration,
                                    .mask = 0xffffffff,
                                    .hz = FEMTOSECONDS_PER_SECOND / period_fs,
                                    .registers = registers};
    return true;
}

static bool pm_timer_open(const struct acpi_machine *machine, struct reference *reference)
{
    if (machine->pm_timer_port == 0)
        return false;
    *reference = (struct reference){.read = pm_timer_read,
                                    .mask = machine->pm_timer_32bit ? 0xffffffff : 0xffffff,
                                    .hz = PM_TIMER_HZ,
                                    .port = machine->pm_timer_port};
    return true;
}

static void pit_close(const struct reference *reference)
{
    x86_out8(PIT_GATE, (uint8_t)reference->found);
}

static bool pit_open(const struct acpi_machine *, struct reference *reference)
{
    uint8_t found = x86_in8(PIT_GATE);

    x86_out8(PIT_GATE, (uint8_t)((found & ~2u) | 1)); /* gate on, speaker off */
    x86_out8(PIT_COMMAND, PIT_CHANNEL_2_MODE_0);
    x86_out8(PIT_CHANNEL_2, 0xff);
    x86_out8(PIT_CHANNEL_2, 0xff);
    *reference = (struct reference){
        .read = pit_read, .close = pit_close, .found = found, .mask = 0xffff, .hz = PIT_HZ};
    return true;
}

static struct reading reading_take(const struct reference *reference)
{
    struct reading reading;
    uint64_t before = x86_rdtsc(), after;

    reading.count = reference->read(reference);
    after = x86_rdtsc();
    reading.uncertainty = after - before;
    reading.tsc = before + reading.uncertainty / 2;
    return reading;
}

/* Returns TSC ticks per second over `window` counts, 0 if the timer stands still. */
static uint64_t tsc_measure(const struct reference *reference, uint32_t window,
                            uint64_t *uncertainty)
{
    struct reading first = reading_take(reference);
    struct reading last;
    uint32_t counts;

    do {
        x86_spin(READING_SPINS);
        last = reading_take(reference);
        counts = (last.count - first.count) & reference->mask;
        if (last.tsc - first.tsc > STUCK_TICKS)
            return 0;
    } while (counts < window);
    *uncertainty = first.uncertainty + last.uncertainty;
    return (last.tsc - first.tsc) * reference->hz / counts;
}

static uint64_t best_measurement(const struct reference *reference, uint32_t window_us)
{
    uint32_t window = (uint32_t)(reference->hz * window_us / 1000000);
    uint64_t best_hz = 0, best_uncertainty = UINT64_MAX;

    for (int i = 0; i < MEASUREMENTS; i++) {
        uint64_t uncertainty;
        uint64_t hz = tsc_measure(reference, window ? window : 1, &uncertainty);
        if (hz == 0)
            return 0;
        if (uncertainty < best_uncertainty) {
            best_uncertainty = uncertainty;
            best_hz = hz;
        }
    }
    return best_hz;
}

uint64_t tsc_calibrate(const struct acpi_machine *machine, uint32_t window_us)
{
    static bool (*const open[])(const struct acpi_machine *,
                                struct reference *) = {hpet_open, pm_timer_open, pit_open};

    for (size_t i = 0; i < ARRAY_COUNT(open); i++) {
        struct reference reference;
        uint64_t hz;

        if (!open[i](machine, &reference))
            continue;
        hz = best_measurement(&reference, window_us);
        if (reference.close != NULL)
            reference.close(&reference);
        if (hz)
            return hz;
    }
    return 0;
}
