/* A program that knows no MPI: argv[1] is a plugin that does. It is loaded, run by a thread, and closed; then
 * that thread ends, a child is forked, and the program exits. Each of these calls back whoever asked for it.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int arguments, rank = -1;
static char **argument;

static void *work(void *unused)
{
    void *plugin = dlopen(argument[1], RTLD_NOW | RTLD_LOCAL);
    int (*run)(int *, char ***) = NULL;

    if (plugin)
        *(void **)&run = dlsym(plugin, "plugin_run");
    if (run)
        rank = run(&arguments, &argument);
    else
        fprintf(stderr, "%s\n", dlerror());
    if (plugin && dlclose(plugin))
        rank = -1;
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int status = -1;

    arguments = argc;
    argument = argv;
    if (pthread_create(&thread, NULL, work, NULL) || pthread_join(thread, NULL) || rank < 0)
        return 1;
    pid_t child = fork();
    if (child == 0)
        _exit(7);
    waitpid(child, &status, 0);
    if (rank == 0)
        printf("child %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    return 0;
}
