/* The commands of `hr`: one function each, listed in a table in host/main.c.
 *
 * A command gets argv[0] = "hr NAME", parses its arguments with argp, reports its own failures once
 * through error_print and returns the exit status of the process.  On a usage error argp exits with
 * HR_EXIT_USAGE, unless the command sets argp_err_exit_status.
 */
#pragma once

enum {
    HR_EXIT_OK = 0,
    HR_EXIT_FAILED = 1,
    HR_EXIT_USAGE = 2, /* for the readers; `hr run` uses 125 */
};

struct command {
    const char *name;
    const char *summary; /* one line for `hr --help` */
    int (*run)(int argc, char **argv);
};

/* runs */
int run_command(int argc, char **argv);
int ctl_command(int argc, char **argv);
int pack_command(int argc, char **argv);
int collect_command(int argc, char **argv);
int usb_command(int argc, char **argv);
int sweep_command(int argc, char **argv);
int compare_command(int argc, char **argv);
int suite_command(int argc, char **argv);

/* readers */
int stat_command(int argc, char **argv);
int report_command(int argc, char **argv);
int timeline_command(int argc, char **argv);
int hist_command(int argc, char **argv);
int memory_command(int argc, char **argv);
int noise_command(int argc, char **argv);
int latency_command(int argc, char **argv);
int diff_command(int argc, char **argv);
int plot_command(int argc, char **argv);
int annotate_command(int argc, char **argv);
int view_command(int argc, char **argv);
int dump_command(int argc, char **argv);
int export_command(int argc, char **argv);
int check_command(int argc, char **argv);

/* the machine */
int events_command(int argc, char **argv);
int doctor_command(int argc, char **argv);
int bench_command(int argc, char **argv);
