/* hello: the smallest ordinary program: greets on stdout and stderr, shows arguments or
 * environment. */
#include <stdio.h>
#include <string.h>

extern char **environ;

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--env") == 0) {
        for (char **variable = environ; *variable; variable++)
            puts(*variable);
        return 0;
    }
    puts("Hello from a program that runs alone.");
    for (int i = 1; i < argc; i++)
        printf("argument %d: %s\n", i, argv[i]);
    fputs("hello: this line goes to stderr\n", stderr);
    return 0;
}
