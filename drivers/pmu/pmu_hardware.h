/* What the drivers for real counters share. */
#pragma once

#include "drivers/pmu/pmu.h"

/* Notes every event's `counter` for pmu_hardware_read; part of pmu_driver.start. */
void pmu_hardware_start(const struct pmu_session *session);

/* Parts of pmu_driver.start.  pmu_hardware_of_event names the event whose registers
 * pmu_hardware_write writes next, PMU_NO_EVENT at first; pmu_hardware_started returns what start
 * returns. */
void pmu_hardware_of_event(uint32_t event);
int pmu_hardware_started(void);

/* Part of pmu_driver.start: a register that turns counters on with this value and off with 0. */
void pmu_hardware_add_switch(uint32_t msr, uint64_t on);

/* pmu_driver.pause and resume, by those registers. */
void pmu_hardware_pause(const struct pmu_session *session);
void pmu_hardware_resume(const struct pmu_session *session);

/* pmu_driver.read by RDPMC. */
void pmu_hardware_read(const struct pmu_session *session, uint64_t user_instructions,
                       uint64_t *values);

/* pmu_driver.read_others by RDPMC. */
void pmu_hardware_read_others(const struct pmu_session *session, uint64_t user_instructions,
                              uint64_t *values);

/* pmu_driver.reader by RDPMC. */
pmu_reader *pmu_hardware_reader(uint32_t event_count, bool others);

/* Returns the rings of an event select as HR_EVENT_* flags; a select without any means ring 3. */
uint32_t pmu_hardware_rings(uint64_t encoding);

/* Returns the value that a counter of this width starts from. */
uint64_t pmu_hardware_first(uint8_t width_bits);

/* Returns the event select that counts this event in its rings, enabled. */
uint64_t pmu_hardware_select(const struct pmu_event *event);

/* True if any event of the session counts ring 0. */
bool pmu_hardware_counts_kernel(const struct pmu_session *session);

/* Part of pmu_driver.start: sets the counter of the event that pmu_hardware_of_event named, and
 * remembers its register for reading. */
void pmu_hardware_preset(uint32_t msr, uint64_t value);

/* Part of pmu_driver.start: the register of an event that start does not set. */
void pmu_hardware_reads(uint32_t event, uint32_t msr);

/* Writes a register that probing found; logs a fault, which makes start fail. */
void pmu_hardware_write(uint32_t msr, uint64_t value);

/* Boot: returns the counters in `mask` whose select is enabled, which means they are in use. */
uint32_t pmu_hardware_enabled(uint32_t select, uint32_t stride, uint32_t mask);

struct pmu_check { /* one counter that is to prove itself */
    uint32_t counter;
    uint32_t least; /* what it has to count of PMU_CHECK_INSTRUCTIONS instructions */
};
#define PMU_CHECK_INSTRUCTIONS 1000u

/* Returns which counters work, bit n for checks[n]: they keep what is written to them, and count
 * when all are on at once (a hypervisor can lend each one alone, but not all together).  `enable`
 * turns them on, in all rings, and off; if it fails, none works.  count is at most 64. */
uint64_t pmu_hardware_check(const struct pmu_check *checks, uint32_t count,
                            const struct pmu_caps *caps,
                            int (*enable)(const struct pmu_caps *caps, bool on));

/* Returns a select that counts instructions on either vendor's CPUs, in all rings. */
uint64_t pmu_hardware_instructions(void);

/* Returns how many counters a mask has. */
uint8_t pmu_hardware_count(uint32_t mask);

/* Returns the counters that an event may use: those of the machine that the host allows it. */
uint32_t pmu_hardware_allowed(const struct pmu_caps *caps, const struct pmu_event *event);
