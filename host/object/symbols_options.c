/* Parses the options about symbols. */
#include "host/object/symbols_options.h"

#include "host/base/option.h"

enum { KEY_DEBUG_DIR = 512, KEY_NO_DEMANGLE, KEY_NO_INLINE, KEY_NO_DEBUGINFOD };

static error_t parse(int key, char *argument, struct argp_state *state)
{
    static const struct option_field fields[] = {
        {'p', OPTION_TEXT, .offset = offsetof(struct symbols_options, program)},
        {KEY_NO_DEMANGLE, OPTION_FLAG, .offset = offsetof(struct symbols_options, raw_names)},
        {KEY_NO_INLINE, OPTION_FLAG, .offset = offsetof(struct symbols_options, no_inlines)},
        {KEY_NO_DEBUGINFOD, OPTION_FLAG, .offset = offsetof(struct symbols_options, no_debuginfod)},
        {0},
    };
    struct symbols_options *options = state->input;

    if (option_store(fields, key, argument, options, state))
        return 0;
    if (key != KEY_DEBUG_DIR)
        return ARGP_ERR_UNKNOWN;
    if (options->debug_dir_count == SYMBOLS_DEBUG_DIRS_MAX)
        argp_error(state, "--debug-dir %s: more than %u of them; put the files into one", argument,
                   SYMBOLS_DEBUG_DIRS_MAX);
    options->debug_dirs[options->debug_dir_count++] = argument;
    return 0;
}

static const struct argp_option options[] = {
    {"program", 'p', "PATH", 0, "Take the program's symbols from PATH", 6},
    {"debug-dir", KEY_DEBUG_DIR, "DIR", 0,
     "Look in DIR, too, for debug files and libraries, laid out as /usr/lib/debug; may be repeated",
     6},
    {"no-demangle", KEY_NO_DEMANGLE, NULL, 0, "Show names of C++ and Rust as the linker knows them",
     6},
    {"no-inline", KEY_NO_INLINE, NULL, 0, "Count inlined code for the function that holds it", 6},
    {"no-debuginfod", KEY_NO_DEBUGINFOD, NULL, 0,
     "Ask no debuginfod server, whatever DEBUGINFOD_URLS says", 6},
    {0},
};

const struct argp symbols_argp = {.options = options, .parser = parse};
