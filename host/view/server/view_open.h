/* Opens the page in the user's browser: xdg-open chooses it. */
#pragma once

/* Waits until xdg-open has ended.  0, or -1 after saying what went wrong and what to do. */
int view_open_file(const char *path);

/* Does not wait: the page's server must answer the browser. */
void view_open_address(const char *url);
