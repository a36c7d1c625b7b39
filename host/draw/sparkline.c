/* Chooses block characters. */
#include "host/draw/sparkline.h"

#include <stdlib.h>
#include <unistd.h>

#include "host/base/terminal.h"

const char *sparkline_bar(double share)
{
    static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

    return bars[share >= 1 ? 7 : share > 0 ? (int)(share * 7 + 0.5) : 0];
}

unsigned sparkline_columns(void)
{
    const char *text = getenv("COLUMNS");
    unsigned long columns = text != NULL ? strtoul(text, NULL, 10) : 0;

    if (columns == 0 || columns > 1000)
        columns = 80;
    columns = terminal_columns(STDOUT_FILENO, (unsigned)columns);
    return columns < 40 ? 40 : columns > 1000 ? 1000 : (unsigned)columns;
}
