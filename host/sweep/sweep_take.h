/* hr sweep take: takes what machines that start from sticks left into the folder of their sweep. */
#pragma once

/* Implements the command.  Returns its exit status. */
int sweep_take_command(int argc, char **argv);
