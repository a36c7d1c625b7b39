/* The kernel's own log.  Context: any but NMI. */
#pragma once

#include "lib/format.h" /* lines are formatted everywhere that logs */

/* Logs one line; adds a newline.  The line goes to the log port, or until that is open, to a buffer
 * that is sent when it opens. */
void log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* log_line for what every user must see, not only one who asks for the log: LOG_NOTICE marks the
 * line. */
#define LOG_NOTICE "notice: "
#define log_notice(format, ...) log_line(LOG_NOTICE format __VA_OPT__(, ) __VA_ARGS__)

/* Prints registers and a stack trace to the serial port and ends the machine. */
void panic(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
