/* Counts the calls that change a disk, and at a chosen one kills the process or makes the call fail.
 *
 * Loaded with LD_PRELOAD. Nothing is counted until `fault_arm` is called; a fork starts unarmed only if its
 * parent was. Only files below the folder in FAULT_FOLDER count, so that a terminal or a log is never hit.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long calls, target;
static atomic_int is_armed, error_number, goes_on;

/* At call number `at` (0: never): kill if `error` is 0, else fail with it, there or from there on. */
void fault_arm(long at, int error, int from_there_on) {
    calls = 0;
    target = at;
    error_number = error;
    goes_on = from_there_on;
    is_armed = 1;
}

long fault_calls(void) { return calls; }

static int is_below(const char *path) {
    const char *folder = getenv("FAULT_FOLDER");
    return folder && path && strncmp(path, folder, strlen(folder)) == 0;
}

static int is_watched(int handle) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return is_below(path);
}

/* Whether this call is to fail. */
static int strikes(void) {
    long now = ++calls;
    if (!target || now < target || (now > target && !goes_on)) return 0;
    if (!error_number) raise(SIGKILL);
    errno = error_number;
    return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define ON_HANDLE(type, name, handle, parameters, arguments)                   \
    type name parameters {                                                     \
        int before = errno;                                                    \
        if (is_armed && is_watched(handle) && strikes()) return -1;            \
        errno = before;                                                        \
        return REAL(name) arguments;                                           \
    }
#define ON_PATH(name, path, parameters, arguments)                             \
    int name parameters {                                                      \
        int before = errno;                                                    \
        if (is_armed && is_below(path) && strikes()) return -1;                \
        errno = before;                                                        \
        return REAL(name) arguments;                                           \
    }

ON_HANDLE(ssize_t, write, handle, (int handle, const void *from, size_t size), (handle, from, size))
ON_HANDLE(ssize_t, writev, handle, (int handle, const struct iovec *from, int count), (handle, from, count))
ON_HANDLE(ssize_t, pwrite, handle, (int handle, const void *from, size_t size, off_t at), (handle, from, size, at))
ON_HANDLE(ssize_t, pwrite64, handle, (int handle, const void *from, size_t size, off64_t at), (handle, from, size, at))
ON_HANDLE(int, fsync, handle, (int handle), (handle))
ON_HANDLE(int, fdatasync, handle, (int handle), (handle))
ON_HANDLE(int, ftruncate, handle, (int handle, off_t size), (handle, size))
ON_HANDLE(int, ftruncate64, handle, (int handle, off64_t size), (handle, size))
ON_HANDLE(int, fallocate, handle, (int handle, int mode, off_t at, off_t size), (handle, mode, at, size))
ON_HANDLE(int, fchmod, handle, (int handle, mode_t mode), (handle, mode))
ON_HANDLE(int, futimens, handle, (int handle, const struct timespec times[2]), (handle, times))
ON_PATH(rename, to, (const char *from, const char *to), (from, to))
ON_PATH(renameat, to, (int in, const char *from, int into, const char *to), (in, from, into, to))
ON_PATH(link, to, (const char *from, const char *to), (from, to))
ON_PATH(linkat, to, (int in, const char *from, int into, const char *to, int flags), (in, from, into, to, flags))
ON_PATH(symlink, to, (const char *from, const char *to), (from, to))
ON_PATH(unlink, path, (const char *path), (path))
ON_PATH(unlinkat, path, (int in, const char *path, int flags), (in, path, flags))
ON_PATH(rmdir, path, (const char *path), (path))
ON_PATH(mkdir, path, (const char *path, mode_t mode), (path, mode))
ON_PATH(truncate, path, (const char *path, off_t size), (path, size))
ON_PATH(chmod, path, (const char *path, mode_t mode), (path, mode))
ON_PATH(utimensat, path, (int in, const char *path, const struct timespec times[2], int flags), (in, path, times, flags))

#define OPENS(name, parameters, arguments)                                     \
    int name parameters {                                                      \
        int before = errno;                                                    \
        mode_t mode = 0;                                                       \
        if (flags & (O_CREAT | O_TMPFILE)) {                                   \
            va_list rest;                                                      \
            va_start(rest, flags);                                             \
            mode = va_arg(rest, mode_t);                                       \
            va_end(rest);                                                      \
        }                                                                      \
        if (is_armed && (flags & (O_CREAT | O_TRUNC)) && is_below(path) && strikes()) return -1; \
        errno = before;                                                        \
        return REAL(name) arguments;                                           \
    }

OPENS(open, (const char *path, int flags, ...), (path, flags, mode))
OPENS(open64, (const char *path, int flags, ...), (path, flags, mode))
OPENS(openat, (int in, const char *path, int flags, ...), (in, path, flags, mode))
OPENS(openat64, (int in, const char *path, int flags, ...), (in, path, flags, mode))
