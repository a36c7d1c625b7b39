/* Intel's top-down analysis of two levels, over general counters.
 *
 * The formulas and thresholds are those of Intel's metrics (github.com/intel/perfmon, files
 * *_metrics.json, category TMA), written for one thread a core, in percent, and with metrics named
 * in place of their own formulas.  From Ice Lake on Intel's own read the register PERF_METRICS,
 * which virtual machines do not have: in its place stand the events of general counters that count
 * the same slots, as Intel's event lists describe them.  Encodings: event lists of the same place.
 *
 * Copyright (c) 2021, Intel Corporation.  All rights reserved.
 *
 * Redistribution and use in source and binary forms, with or without modification, are permitted
 * provided that the following conditions are met: 1. Redistributions of source code must retain the
 * above copyright notice, this list of conditions and the following disclaimer.  2. Redistributions
 * in binary form must reproduce the above copyright notice, this list of conditions and the
 * following disclaimer in the documentation and/or other materials provided with the distribution.
 * 3. Neither the name of the copyright holder nor the names of its contributors may be used to
 * endorse or promote products derived from this software without specific prior written permission.
 *
 * THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS "AS IS" AND ANY EXPRESS OR
 * IMPLIED WARRANTIES, INCLUDING, BUT NOT LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND
 * FITNESS FOR A PARTICULAR PURPOSE ARE DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT HOLDER OR
 * CONTRIBUTORS BE LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR CONSEQUENTIAL
 * DAMAGES (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR SERVICES; LOSS OF USE,
 * DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON ANY THEORY OF LIABILITY,
 * WHETHER IN CONTRACT, STRICT LIABILITY, OR TORT (INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY
 * WAY OUT OF THE USE OF THIS SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.
 */
#include "host/metrics/metrics_table.h"

/* Since Skylake; the generic events of the same meaning, when they were recorded by these codes. */
#define LOADS                                                                   \
    {"L1-dcache-loads", 0x81d0, NULL}, {"L1-dcache-load-misses", 0x08d1, NULL}, \
    {                                                                           \
        "LLC-load-misses", 0x20d1, NULL                                         \
    }
#define END           \
    {                 \
        NULL, 0, NULL \
    }
#define END_METRICS                           \
    {                                         \
        NULL, NULL, NULL, NULL, NULL, 0, NULL \
    }

#define FRONTEND "slots in which the front end delivered nothing though there was room"
#define BAD "slots of work that was thrown away, or lost to recovery from it"
#define BACKEND "slots in which the back end had no room"
#define RETIRING "slots of work that was completed"
#define LATENCY "of these: in cycles with nothing delivered at all"
#define BANDWIDTH "of these: in cycles with too little delivered"
#define MISPREDICTS "of these: for mispredicted branches"
#define CLEARS "of these: for other clears of the pipeline"
#define MEMORY "of these: waiting for loads and stores"
#define CORE "of these: for other reasons, such as dividers and busy ports"
#define LIGHT "of these: instructions of one operation"
#define HEAVY "of these: instructions of several operations, or microcoded"

const struct metrics_event metrics_intel_skylake_events[] = {
    {"IDQ_UOPS_NOT_DELIVERED.CORE", 0x019c, NULL},
    {"no-delivery-cycles", 0x0400019c, "IDQ_UOPS_NOT_DELIVERED.CYCLES_0_UOPS_DELIV_CORE"},
    {"UOPS_ISSUED.ANY", 0x010e, NULL},
    {"UOPS_RETIRED.RETIRE_SLOTS", 0x02c2, NULL},
    {"UOPS_RETIRED.MACRO_FUSED", 0x04c2, NULL},
    {"INT_MISC.RECOVERY_CYCLES", 0x010d, NULL},
    {"MACHINE_CLEARS.COUNT", 0x010401c3, NULL},
    {"CYCLE_ACTIVITY.STALLS_MEM_ANY", 0x140014a3, NULL},
    {"CYCLE_ACTIVITY.STALLS_TOTAL", 0x040004a3, NULL},
    {"EXE_ACTIVITY.BOUND_ON_STORES", 0x40a6, NULL},
    {"EXE_ACTIVITY.1_PORTS_UTIL", 0x02a6, NULL},
    {"EXE_ACTIVITY.2_PORTS_UTIL", 0x04a6, NULL},
    LOADS,
    END,
};

/* Four slots a cycle. */
const struct metric metrics_intel_skylake[] = {
    {"frontend_bound", "%", "100 * IDQ_UOPS_NOT_DELIVERED.CORE / (4 * cycles)",
     "frontend_bound > 15", NULL, 1, FRONTEND},
    {"fetch_latency", "%", "100 * no-delivery-cycles / cycles",
     "fetch_latency > 10 & frontend_bound > 15", "frontend_bound", 2, LATENCY},
    {"fetch_bandwidth", "%", "frontend_bound - fetch_latency", "fetch_bandwidth > 20",
     "frontend_bound", 2, BANDWIDTH},
    {"bad_speculation", "%",
     "100 * (UOPS_ISSUED.ANY - UOPS_RETIRED.RETIRE_SLOTS + 4 * INT_MISC.RECOVERY_CYCLES) "
     "/ (4 * cycles)",
     "bad_speculation > 15", NULL, 1, BAD},
    {"branch_mispredicts", "%",
     "bad_speculation * branch-misses / (branch-misses + MACHINE_CLEARS.COUNT)",
     "branch_mispredicts > 10 & bad_speculation > 15", "bad_speculation", 2, MISPREDICTS},
    {"machine_clears", "%", "bad_speculation - branch_mispredicts",
     "machine_clears > 10 & bad_speculation > 15", "bad_speculation", 2, CLEARS},
    {"backend_bound", "%",
     "100 - frontend_bound - 100 * (UOPS_ISSUED.ANY + 4 * INT_MISC.RECOVERY_CYCLES) / (4 * cycles)",
     "backend_bound > 20", NULL, 1, BACKEND},
    {"memory_bound", "%",
     "backend_bound * (CYCLE_ACTIVITY.STALLS_MEM_ANY + EXE_ACTIVITY.BOUND_ON_STORES) / "
     "(CYCLE_ACTIVITY.STALLS_TOTAL + EXE_ACTIVITY.1_PORTS_UTIL + "
     "retiring / 100 * EXE_ACTIVITY.2_PORTS_UTIL + EXE_ACTIVITY.BOUND_ON_STORES)",
     "memory_bound > 20 & backend_bound > 20", "backend_bound", 2, MEMORY},
    {"core_bound", "%", "backend_bound - memory_bound", "core_bound > 10 & backend_bound > 20",
     "backend_bound", 2, CORE},
    {"retiring", "%", "100 * UOPS_RETIRED.RETIRE_SLOTS / (4 * cycles)", "retiring > 70", NULL, 1,
     RETIRING},
    {"light_operations", "%", "retiring - heavy_operations", "light_operations > 60", "retiring", 2,
     LIGHT},
    {"heavy_operations", "%",
     "100 * (UOPS_RETIRED.RETIRE_SLOTS + UOPS_RETIRED.MACRO_FUSED - instructions) / (4 * cycles)",
     "heavy_operations > 10", "retiring", 2, HEAVY},
    END_METRICS,
};

const struct metrics_event metrics_intel_icelake_events[] = {
    {"slots", 0x01a4, "TOPDOWN.SLOTS_P"},
    {"slots", 0x0400, NULL},
    {"IDQ_UOPS_NOT_DELIVERED.CORE", 0x019c, NULL},
    {"no-delivery-cycles", 0x0500019c, "IDQ_UOPS_NOT_DELIVERED.CYCLES_0_UOPS_DELIV_CORE"},
    {"INT_MISC.UOP_DROPPING", 0x100d, NULL},
    {"INT_MISC.CLEARS_COUNT", 0x0104010d, NULL},
    {"TOPDOWN.BACKEND_BOUND_SLOTS", 0x02a4, NULL},
    {"UOPS_ISSUED.ANY", 0x010e, NULL},
    {"UOPS_RETIRED.SLOTS", 0x02c2, NULL},
    {"MACHINE_CLEARS.COUNT", 0x010401c3, NULL},
    {"CYCLE_ACTIVITY.STALLS_MEM_ANY", 0x140014a3, NULL},
    {"CYCLE_ACTIVITY.STALLS_TOTAL", 0x040004a3, NULL},
    {"EXE_ACTIVITY.BOUND_ON_STORES", 0x020040a6, NULL},
    {"EXE_ACTIVITY.1_PORTS_UTIL", 0x02a6, NULL},
    {"EXE_ACTIVITY.2_PORTS_UTIL", 0x04a6, NULL},
    {"IDQ.MS_UOPS", 0x3079, NULL},
    {"IDQ.MITE_UOPS", 0x0479, NULL},
    {"UOPS_DECODED.DEC0", 0x0156, NULL},
    {"dec0-cycles", 0x01000156, "UOPS_DECODED.DEC0:c=1"},
    LOADS,
    END,
};

/* Five slots a cycle. */
const struct metric metrics_intel_icelake[] = {
    {"frontend_bound", "%", "100 * (IDQ_UOPS_NOT_DELIVERED.CORE - INT_MISC.UOP_DROPPING) / slots",
     "frontend_bound > 15", NULL, 1, FRONTEND},
    {"fetch_latency", "%", "100 * (5 * no-delivery-cycles - INT_MISC.UOP_DROPPING) / slots",
     "fetch_latency > 10 & frontend_bound > 15", "frontend_bound", 2, LATENCY},
    {"fetch_bandwidth", "%", "max(0, frontend_bound - fetch_latency)", "fetch_bandwidth > 20",
     "frontend_bound", 2, BANDWIDTH},
    {"bad_speculation", "%", "max(0, 100 - frontend_bound - backend_bound - retiring)",
     "bad_speculation > 15", NULL, 1, BAD},
    {"branch_mispredicts", "%",
     "bad_speculation * branch-misses / (branch-misses + MACHINE_CLEARS.COUNT)",
     "branch_mispredicts > 10 & bad_speculation > 15", "bad_speculation", 2, MISPREDICTS},
    {"machine_clears", "%", "max(0, bad_speculation - branch_mispredicts)",
     "machine_clears > 10 & bad_speculation > 15", "bad_speculation", 2, CLEARS},
    {"backend_bound", "%",
     "100 * (TOPDOWN.BACKEND_BOUND_SLOTS + 5 * INT_MISC.CLEARS_COUNT) / slots",
     "backend_bound > 20", NULL, 1, BACKEND},
    {"memory_bound", "%",
     "backend_bound * (CYCLE_ACTIVITY.STALLS_MEM_ANY + EXE_ACTIVITY.BOUND_ON_STORES) / "
     "(CYCLE_ACTIVITY.STALLS_TOTAL + EXE_ACTIVITY.1_PORTS_UTIL + "
     "retiring / 100 * EXE_ACTIVITY.2_PORTS_UTIL + EXE_ACTIVITY.BOUND_ON_STORES)",
     "memory_bound > 20 & backend_bound > 20", "backend_bound", 2, MEMORY},
    {"core_bound", "%", "max(0, backend_bound - memory_bound)",
     "core_bound > 10 & backend_bound > 20", "backend_bound", 2, CORE},
    {"retiring", "%", "100 * UOPS_RETIRED.SLOTS / slots", "retiring > 70", NULL, 1, RETIRING},
    {"light_operations", "%", "max(0, retiring - heavy_operations)", "light_operations > 60",
     "retiring", 2, LIGHT},
    {"heavy_operations", "%",
     "100 * UOPS_RETIRED.SLOTS / UOPS_ISSUED.ANY * IDQ.MS_UOPS / slots + "
     "retiring * (UOPS_DECODED.DEC0 - dec0-cycles) / IDQ.MITE_UOPS",
     "heavy_operations > 10", "retiring", 2, HEAVY},
    END_METRICS,
};

/* Sapphire, Emerald and Granite Rapids.  Intel calls the event 9C/01 IDQ_BUBBLES, too. */
const struct metrics_event metrics_intel_golden_cove_events[] = {
    {"slots", 0x01a4, "TOPDOWN.SLOTS_P"},
    {"slots", 0x0400, NULL},
    {"IDQ_BUBBLES.CORE", 0x019c, "IDQ_UOPS_NOT_DELIVERED.CORE"},
    {"no-delivery-cycles", 0x0600019c, "IDQ_UOPS_NOT_DELIVERED.CYCLES_0_UOPS_DELIV_CORE"},
    {"INT_MISC.UOP_DROPPING", 0x10ad, NULL},
    {"TOPDOWN.BACKEND_BOUND_SLOTS", 0x02a4, NULL},
    {"TOPDOWN.BR_MISPREDICT_SLOTS", 0x08a4, NULL},
    {"TOPDOWN.MEMORY_BOUND_SLOTS", 0x10a4, NULL},
    {"UOPS_RETIRED.SLOTS", 0x02c2, NULL},
    {"UOPS_RETIRED.HEAVY", 0x01c2, NULL},
    LOADS,
    END,
};

/* Six slots a cycle. */
const struct metric metrics_intel_golden_cove[] = {
    {"frontend_bound", "%", "100 * (IDQ_BUBBLES.CORE - INT_MISC.UOP_DROPPING) / slots",
     "frontend_bound > 15", NULL, 1, FRONTEND},
    {"fetch_latency", "%", "100 * (6 * no-delivery-cycles - INT_MISC.UOP_DROPPING) / slots",
     "fetch_latency > 10 & frontend_bound > 15", "frontend_bound", 2, LATENCY},
    {"fetch_bandwidth", "%", "max(0, frontend_bound - fetch_latency)", "fetch_bandwidth > 20",
     "frontend_bound", 2, BANDWIDTH},
    {"bad_speculation", "%", "max(0, 100 - frontend_bound - backend_bound - retiring)",
     "bad_speculation > 15", NULL, 1, BAD},
    {"branch_mispredicts", "%", "100 * TOPDOWN.BR_MISPREDICT_SLOTS / slots",
     "branch_mispredicts > 10 & bad_speculation > 15", "bad_speculation", 2, MISPREDICTS},
    {"machine_clears", "%", "max(0, bad_speculation - branch_mispredicts)",
     "machine_clears > 10 & bad_speculation > 15", "bad_speculation", 2, CLEARS},
    {"backend_bound", "%", "100 * TOPDOWN.BACKEND_BOUND_SLOTS / slots", "backend_bound > 20", NULL,
     1, BACKEND},
    {"memory_bound", "%", "100 * TOPDOWN.MEMORY_BOUND_SLOTS / slots",
     "memory_bound > 20 & backend_bound > 20", "backend_bound", 2, MEMORY},
    {"core_bound", "%", "max(0, backend_bound - memory_bound)",
     "core_bound > 10 & backend_bound > 20", "backend_bound", 2, CORE},
    {"retiring", "%", "100 * UOPS_RETIRED.SLOTS / slots", "retiring > 70", NULL, 1, RETIRING},
    {"light_operations", "%", "max(0, retiring - heavy_operations)", "light_operations > 60",
     "retiring", 2, LIGHT},
    {"heavy_operations", "%", "100 * UOPS_RETIRED.HEAVY / slots", "heavy_operations > 10",
     "retiring", 2, HEAVY},
    END_METRICS,
};
