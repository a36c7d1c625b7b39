/* The file of progress on the stick: which runs ended, so that a stick that is started again, after
 * a reset in the middle of a run, continues where it was (lib/boot/boot_conf.h).  Without the key
 * `progress` every run waits, and nothing is written.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "boot/uefi/volume.h"

enum progress_state { PROGRESS_WAITS, PROGRESS_ENDED, PROGRESS_GIVEN_UP };

/* Reads the file for so many runs.  Returns false with a text for people. */
bool progress_init(const char *path, uint32_t runs, char why[VOLUME_WHY_BYTES]);

/* How a run, numbered from 1, is before it is performed. */
enum progress_state progress_state(uint32_t number);

/* Write that a run starts, and that it ended. */
void progress_starts(uint32_t number);
void progress_ended(uint32_t number);
