/* The batch on the screen: a header, and a row per run.  Nothing is drawn without a screen. */
#pragma once

#include <stdint.h>

#include "lib/boot/boot_conf.h"

#define TABLE_NAME_BYTES (BOOT_CONF_NAME_BYTES + 8)

enum table_state { TABLE_PENDING, TABLE_RUNNING, TABLE_WRITING, TABLE_DONE, TABLE_FAILED };

struct table_row {
    uint32_t number; /* from 1 */
    char name[TABLE_NAME_BYTES]; /* includes the repetition */
    enum table_state state;
    char outcome[32];
    uint64_t samples, lost, elapsed_ns, bytes;
};

/* `pending` fills in the name in the row of a run that has not started, and the state of one that
 * is left out. */
void table_init(const char *header, uint32_t total, void (*pending)(struct table_row *row));
void table_set(const struct table_row *row);
/* Keeps the row of a run that is left out, which `pending` filled in: it is drawn already. */
void table_left_out(const struct table_row *row);
