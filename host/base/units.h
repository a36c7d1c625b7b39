/* Parses quantities as people type them: times ("500ns", "1us", "2.5ms", "10s") and sizes ("64M",
 * "1G").
 *
 * Both functions return 0, -EINVAL if the text is not such a quantity, -ERANGE if it does not fit.
 */
#pragma once

#include <stdint.h>

#define UNITS_NEEDED 0ull /* as bare_unit_ns: refuse a time without a unit */
#define UNITS_SECOND 1000000000ull

/* Units ns, us, ms, s, m, h.  A number without a unit is in units of bare_unit_ns. */
int units_parse_time(const char *text, uint64_t bare_unit_ns, uint64_t *time_ns);

/* Units K, M, G, T in powers of 1024, with or without B or iB; bytes without a unit. */
int units_parse_bytes(const char *text, uint64_t *bytes);
