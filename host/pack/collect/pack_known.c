/* The table of what well-known programs and libraries open at run time. */
#include <fnmatch.h>
#include <stddef.h>

#include "host/pack/collect/pack_known.h"

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Tests, user interfaces that need a screen, network clients, files for the linker only. */
#define PYTHON_EXCEPT                                                                   \
    LIST("test", "tests", "idlelib", "turtledemo", "tkinter", "_tkinter*", "ensurepip", \
         "site-packages", "dist-packages", "config-3*", "*.opt-1.pyc", "*.opt-2.pyc", "*.a")

static const struct pack_known table[] = {
    {
        .pattern = "python3*",
        .paths =
            LIST("%p/lib/python%v", "%p/lib/python3[0-9]*.zip", "%d/pyvenv.cfg", "%p/pyvenv.cfg"),
        .except = PYTHON_EXCEPT,
        .siblings = LIST("*.py", "*/*.py"),
    },
    {
        .pattern = "python3*",
        .paths = LIST("%p/lib/python3.*/site-packages", "%p/lib/python3/dist-packages",
                      "%p/local/lib/python%v/dist-packages"),
        .except = LIST("pip", "tests", "*.opt-1.pyc", "*.opt-2.pyc", "*.a"),
    },
    {
        .pattern = "libpython3*.so*",
        .paths = LIST("%p/lib/python%v", "%p/python%v"),
        .except = PYTHON_EXCEPT,
    },
    {
        .pattern = "perl*",
        .paths =
            LIST("/etc/perl", "/usr/local/lib/x86_64-linux-gnu/perl/5*", "/usr/local/share/perl/5*",
                 "/usr/lib/x86_64-linux-gnu/perl5/5*", "/usr/share/perl5",
                 "/usr/lib/x86_64-linux-gnu/perl-base", "/usr/lib/x86_64-linux-gnu/perl/5*",
                 "/usr/share/perl/5*", "%p/lib/perl5", "%p/lib64/perl5"),
        .except = LIST("*.pod", "*.h", "*.a", "CPAN", "Module/CoreList*"),
        .siblings = LIST("*.pm", "*/*.pm", "*.pl"),
    },
    {
        .pattern = "lua*",
        .paths = LIST("/usr/share/lua/%v", "/usr/local/share/lua/%v", "/usr/local/lib/lua/%v",
                      "/usr/lib/x86_64-linux-gnu/lua/%v"),
        .siblings = LIST("*.lua", "*/*.lua"),
    },
    {
        .pattern = "*awk",
        .paths = LIST("/usr/share/awk", "/usr/lib/x86_64-linux-gnu/gawk", "%p/share/awk"),
        .siblings = LIST("*.awk"),
    },
    {
        .pattern = "ruby*",
        .paths = LIST("/usr/lib/ruby", "/usr/lib/x86_64-linux-gnu/ruby", "%p/lib/ruby",
                      "/usr/share/rubygems-integration", "/var/lib/gems"),
        .siblings = LIST("*.rb", "*/*.rb"),
    },
    {
        .pattern = "node*",
        .paths = LIST("/usr/share/nodejs"),
        .siblings = LIST("*.js", "*.mjs", "*.cjs", "*.json", "*/*.js", "node_modules"),
    },
    {
        .pattern = "php[0-9]*",
        .paths = LIST("/etc/php/%v/cli", "/usr/lib/php/2*", "/usr/share/php"),
        .siblings = LIST("*.php", "*/*.php"),
    },
    {
        .pattern = "openssl",
        .paths =
            LIST("/usr/lib/x86_64-linux-gnu/ossl-modules", "/usr/lib/x86_64-linux-gnu/engines-3"),
    },
    {
        .pattern = "java",
        .paths = LIST("%p/lib", "%p/conf", "%p/release", "%w/*.class"),
        .except = LIST("ct.sym", "src.zip", "*.a"),
        .siblings = LIST("*.class", "*.jar", "*.java"),
        .tree_bytes_max = 512ull << 20, /* the classes are one file of 130 MB */
    },
    {.pattern = "sysbench", .paths = LIST("/usr/share/sysbench", "%p/share/sysbench")},
    {.pattern = "sqlite3", .siblings = LIST("*-wal", "*-journal")},
    {.pattern = "git", .paths = LIST("/etc/gitconfig", "/usr/share/git-core", "%w/.git")},
    {.pattern = "vim*", .paths = LIST("/usr/share/vim", "/etc/vim")},
    {.pattern = "gdb", .paths = LIST("/etc/gdb", "/usr/share/gdb")},
    {.pattern = "bash", .siblings = LIST("*.sh", "*.bash")},
    {
        .pattern = "iconv",
        .paths = LIST("/usr/lib/x86_64-linux-gnu/gconv", "/usr/lib64/gconv"),
    },
    /* libraries */
    {
        /* files of Debian's packages, needed even if all of /usr/share/nodejs is too much */
        .pattern = "libnode.so*",
        .paths = LIST("/usr/share/nodejs/cjs-module-lexer",
                      "/usr/share/nodejs/undici/undici-fetch.js", "/usr/share/nodejs/acorn/dist",
                      "/usr/share/nodejs/acorn-walk/dist", "/usr/share/nodejs/minimatch/dist/cjs"),
    },
    {
        .pattern = "libc.so.6",
        .paths = LIST("/etc/ld.so.cache", "/usr/lib/x86_64-linux-gnu/gconv/gconv-modules.cache",
                      "/usr/lib64/gconv/gconv-modules.cache",
                      "/usr/lib/x86_64-linux-gnu/gconv/ISO8859-1.so",
                      "/usr/lib/x86_64-linux-gnu/gconv/UTF-16.so"),
        .libraries = LIST("libgcc_s.so.1"), /* pthread_exit and pthread_cancel unwind with it */
    },
    {.pattern = "libcrypto.so*", .paths = LIST("/usr/lib/ssl/openssl.cnf", "/etc/ssl/openssl.cnf")},
    {.pattern = "libreadline.so*", .paths = LIST("/etc/inputrc")},
    {.pattern = "libmagic.so*", .paths = LIST("/etc/magic", "/usr/share/misc/magic.mgc")},
    {.pattern = "libtcl[0-9]*.so*", .paths = LIST("/usr/share/tcltk/tcl%v")},
    {
        .pattern = "libguile-*.so*",
        .paths = LIST("/usr/share/guile/[0-9]*", "/usr/lib/x86_64-linux-gnu/guile/[0-9]*"),
    },
    {.pattern = "libfontconfig.so*", .paths = LIST("/etc/fonts")},
    {.pattern = "libgomp.so*", .libraries = LIST("libgcc_s.so.1")},
};

const char *const pack_known_system[] = {
    "/etc/nsswitch.conf", "/etc/host.conf", "/etc/hosts",
    "/etc/localtime",     "/etc/timezone",  "/etc/os-release",
    "/etc/services",      "/etc/protocols", NULL,
};

const struct pack_known *pack_known_next(const char *name, unsigned *position)
{
    while (*position < sizeof table / sizeof table[0]) {
        const struct pack_known *known = &table[(*position)++];

        if (fnmatch(known->pattern, name, 0) == 0)
            return known;
    }
    return NULL;
}
