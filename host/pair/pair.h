/* hr sweep pair: two programs at the same time on CPUs that share something. */
#pragma once

/* Implements the command.  Returns its exit status. */
int pair_command(int argc, char **argv);
