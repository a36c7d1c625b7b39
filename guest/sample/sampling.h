/* What the sampler does.  Calibration sets it for its rounds, then sampling_start() for the run. */
#ifndef GUEST_SAMPLE_SAMPLING_H
#define GUEST_SAMPLE_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

#include "drivers/pmu/pmu.h"
#include "guest/base/run.h"
#include "guest/sample/trigger.h"
#include "include/hr_format.h"

struct sampling {
    enum hr_mode mode;
    const struct trigger *trigger; /* of the mode */
    uint64_t interval_ticks; /* timer and IPI: between points of the grid */
    uint64_t period; /* overflow: events between samples; the first one if it adapts */
    uint64_t wanted_ticks; /* overflow: between samples, when the period adapts; otherwise 0 */
    uint32_t counters_rest; /* samples without counters after each that has them */
    bool polls; /* the program may ask for samples */
    bool precise; /* mode pebs, the calibration included */
    bool jitter; /* its periods are random */
    uint32_t
        latency_least; /* load latency events count loads that take longer; 0: there are none */
    bool probes; /* there may be hits of probes */
    uint32_t probe_arguments; /* values that a probe's hit has besides the events' */
    pmu_reader *reader, *reader_others; /* of the events: sampling_choose_reader */
    struct pmu_session session; /* the events, and the period that start sets */
    uint64_t overflow_mask; /* the range of the first event's counter */
    uint64_t period_min; /* what this machine can bear; measured */
    bool pmi_masks; /* a delivered interrupt masks the local APIC's entry */
    bool follows; /* overflow: the period may change, or a share is kept */
    uint64_t share_factor; /* guest/sample/share.h; 0: sampling costs the program nothing */
    uint64_t spacing_ticks; /* least time between samples, from calibration */
    struct hr_meta_calibration calibration;
};

/* Written during boot only, like `run`. */
extern struct sampling sampling;

void sampling_set_mode(enum hr_mode mode);

/* Chooses how samples read the counters, from run.pmu and the session.  Context: boot. */
void sampling_choose_reader(void);

/* Returns the values of a slot: the events, and what may follow them. */
uint32_t sampling_values(void);

/* True if what a trigger reads of event `i` is its whole count, rather than what its counter holds.
 */
bool sampling_whole(uint32_t i);

/* After calibration: sets sampling as the run asks for, within the limits that calibration found.
 */
void sampling_start(void);

#endif
