/* Lines of text on the screen.  They do not go to the firmware's whole console: if that includes
 * the serial port, a table drawn in place would garble the messages there (boot/uefi/say.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define SCREEN_COLUMNS_MAX 160

/* console: without a screen, use the firmware's console instead. */
void screen_init(bool console);
uint32_t screen_rows(void); /* 0: there is no screen, or boot services have ended */
uint32_t screen_columns(void); /* longest line */
void screen_clear(void);

/* Replaces a row; characters that are not printable ASCII become '?'. */
void screen_line(uint32_t row, const char *text);
