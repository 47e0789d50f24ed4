// SPDX-License-Identifier: GPL-3.0-or-later
/* Numbers the file operations below one folder, and kills the process before one of them or makes
 * it fail. Preloaded (LD_PRELOAD); does nothing until pliant_faults_arm() is called.
 *
 * Streams of stdio write through functions inside libc, which cannot be interposed. fopen() and
 * fdopen() therefore give streams (fopencookie) that read and write through this file.
 *
 * An operation counts if its path, or the path that its descriptor was opened with, is the folder
 * or below it. close() is carried out even where it reports an error, as Linux does.
 *
 * A trace has a line for each operation: what it may do ("changes" the disk, only needs "room", or
 * "reads"), its name, and its path below the folder where it has one.
 */
#define _GNU_SOURCE 1
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum
{
    DESCRIPTORS = 4096
};

/* What can run out of room; anything may fail with an error of the disk. A process that is killed
 * leaves what it would have left before the next operation that changes something. */
typedef enum kind
{
    CHANGES,        /* and needs room */
    CHANGES_FREELY, /* and needs none */
    NEEDS_ROOM,
    NEEDS_NONE
} kind;

static const char* const KIND_NAMES[] = {"changes", "changes", "room", "reads"};

/* Of a descriptor: not below the folder, below it, and open for writing. */
enum
{
    ELSEWHERE,
    READING,
    WRITING
};

static char folder[PATH_MAX];
static size_t folder_length;
static long target;  /* the operation's number, from 1; 0: only count */
static int failure;  /* errno; 0: SIGKILL */
static bool forever; /* all operations from there on */
static atomic_long count;
static atomic_bool armed;
static atomic_char below[DESCRIPTORS];
static char* trace; /* names of the operations, for reports */
static size_t trace_room;

#define REAL(name)                                                                                 \
    static __typeof__(&(name)) real;                                                               \
    if (!real)                                                                                     \
    real = (__typeof__(&(name)))dlsym(RTLD_NEXT, #name)

static bool path_counts(const char* path)
{
    return atomic_load(&armed) && path && strncmp(path, folder, folder_length) == 0 &&
           (path[folder_length] == 0 || path[folder_length] == '/');
}

static bool descriptor_counts(int fd)
{
    return atomic_load(&armed) && fd >= 0 && fd < DESCRIPTORS && atomic_load(&below[fd]);
}

static char place_of(int fd)
{
    return descriptor_counts(fd) ? atomic_load(&below[fd]) : ELSEWHERE;
}

static void remember(int fd, char place)
{
    if (fd >= 0 && fd < DESCRIPTORS)
        atomic_store(&below[fd], place);
}

/* True: the operation is to fail, errno is set. */
static bool fails(bool counts, kind what, const char* name, const char* path)
{
    if (!counts)
        return false;
    long number = atomic_fetch_add(&count, 1) + 1;
    if (trace)
    {
        const char* base = path && strlen(path) > folder_length ? path + folder_length + 1 : "";
        size_t used = strlen(trace);
        snprintf(trace + used, trace_room - used, "%s %s %s\n", KIND_NAMES[what], name, base);
    }
    if (!target || number < target || (number > target && !forever))
        return false;
    if (!failure)
        kill(getpid(), SIGKILL);
    if (failure == ENOSPC && what != NEEDS_ROOM && what != CHANGES)
        return false;
    errno = failure;
    return true;
}

void pliant_faults_arm(const char* path, long number, int error, int for_good, char* names,
                       size_t room)
{
    snprintf(folder, sizeof folder, "%s", path);
    folder_length = strlen(folder);
    target = number, failure = error, forever = for_good;
    trace = names, trace_room = room;
    if (trace)
        trace[0] = 0;
    atomic_store(&count, 0);
    atomic_store(&armed, true);
}

long pliant_faults_count(void)
{
    return atomic_load(&count);
}

void pliant_faults_disarm(void)
{
    atomic_store(&armed, false);
}

/* ------------------------------------------------------------------ descriptors */

static int opened(int fd, char place)
{
    if (fd >= 0)
        remember(fd, place);
    return fd;
}

static char place_of_new(bool counts, int flags)
{
    return !counts ? ELSEWHERE : flags & O_ACCMODE ? WRITING : READING;
}

static kind opening(int flags)
{
    return flags & (O_CREAT | O_TRUNC) ? CHANGES : NEEDS_NONE;
}

static mode_t mode_of(int flags, va_list list)
{
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;
}

#define OPEN(name)                                                                                 \
    int name(const char* path, int flags, ...)                                                     \
    {                                                                                              \
        REAL(name);                                                                                \
        va_list list;                                                                              \
        va_start(list, flags);                                                                     \
        mode_t mode = mode_of(flags, list);                                                        \
        va_end(list);                                                                              \
        bool counts = path_counts(path);                                                           \
        if (fails(counts, opening(flags), "open", path))                                           \
            return -1;                                                                             \
        return opened(real(path, flags, mode), place_of_new(counts, flags));                       \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                               \
    int name(int at, const char* path, int flags, ...)                                             \
    {                                                                                              \
        REAL(name);                                                                                \
        va_list list;                                                                              \
        va_start(list, flags);                                                                     \
        mode_t mode = mode_of(flags, list);                                                        \
        va_end(list);                                                                              \
        bool counts = path[0] == '/' ? path_counts(path) : descriptor_counts(at);                  \
        if (fails(counts, opening(flags), "openat", path))                                         \
            return -1;                                                                             \
        return opened(real(at, path, flags, mode), place_of_new(counts, flags));                   \
    }
OPENAT(openat)
OPENAT(openat64)

int close(int fd)
{
    REAL(close);
    kind what = place_of(fd) == WRITING ? NEEDS_ROOM : NEEDS_NONE;
    bool fault = fails(descriptor_counts(fd), what, "close", NULL);
    int cause = errno;
    remember(fd, ELSEWHERE);
    int result = real(fd);
    if (fault)
        errno = cause;
    return fault ? -1 : result;
}

int dup(int fd)
{
    REAL(dup);
    return opened(real(fd), place_of(fd));
}

int fcntl(int fd, int command, ...)
{
    REAL(fcntl);
    va_list list;
    va_start(list, command);
    void* argument = va_arg(list, void*);
    va_end(list);
    int result = real(fd, command, argument);
    return command == F_DUPFD || command == F_DUPFD_CLOEXEC ? opened(result, place_of(fd)) : result;
}

int fcntl64(int fd, int command, ...)
{
    REAL(fcntl64);
    va_list list;
    va_start(list, command);
    void* argument = va_arg(list, void*);
    va_end(list);
    int result = real(fd, command, argument);
    return command == F_DUPFD || command == F_DUPFD_CLOEXEC ? opened(result, place_of(fd)) : result;
}

#define ON_DESCRIPTOR(type, name, label, what, parameters, arguments)                              \
    type name parameters                                                                           \
    {                                                                                              \
        REAL(name);                                                                                \
        return fails(descriptor_counts(fd), what, label, NULL) ? -1 : real arguments;              \
    }
ON_DESCRIPTOR(ssize_t, read, "read", NEEDS_NONE, (int fd, void* data, size_t size),
              (fd, data, size))
ON_DESCRIPTOR(ssize_t, pread, "pread", NEEDS_NONE, (int fd, void* data, size_t size, off_t at),
              (fd, data, size, at))
ON_DESCRIPTOR(ssize_t, pread64, "pread", NEEDS_NONE, (int fd, void* data, size_t size, off64_t at),
              (fd, data, size, at))
ON_DESCRIPTOR(ssize_t, write, "write", CHANGES, (int fd, const void* data, size_t size),
              (fd, data, size))
ON_DESCRIPTOR(ssize_t, pwrite, "pwrite", CHANGES, (int fd, const void* data, size_t size, off_t at),
              (fd, data, size, at))
ON_DESCRIPTOR(ssize_t, pwrite64, "pwrite", CHANGES,
              (int fd, const void* data, size_t size, off64_t at), (fd, data, size, at))
ON_DESCRIPTOR(ssize_t, writev, "writev", CHANGES, (int fd, const struct iovec* data, int parts),
              (fd, data, parts))
ON_DESCRIPTOR(int, fsync, "fsync", NEEDS_ROOM, (int fd), (fd))
ON_DESCRIPTOR(int, fdatasync, "fdatasync", NEEDS_ROOM, (int fd), (fd))
ON_DESCRIPTOR(int, ftruncate, "ftruncate", CHANGES, (int fd, off_t size), (fd, size))
ON_DESCRIPTOR(int, ftruncate64, "ftruncate", CHANGES, (int fd, off64_t size), (fd, size))
ON_DESCRIPTOR(int, futimens, "futimens", CHANGES_FREELY, (int fd, const struct timespec times[2]),
              (fd, times))
ON_DESCRIPTOR(int, flock, "flock", NEEDS_NONE, (int fd, int operation), (fd, operation))

/* ------------------------------------------------------------------ paths */

#define ON_PATH(name, what, parameters, arguments)                                                 \
    int name parameters                                                                            \
    {                                                                                              \
        REAL(name);                                                                                \
        return fails(path_counts(path), what, #name, path) ? -1 : real arguments;                  \
    }
ON_PATH(unlink, CHANGES_FREELY, (const char* path), (path))
ON_PATH(remove, CHANGES_FREELY, (const char* path), (path))
ON_PATH(rmdir, CHANGES_FREELY, (const char* path), (path))
ON_PATH(mkdir, CHANGES, (const char* path, mode_t mode), (path, mode))
ON_PATH(rename, CHANGES, (const char* path, const char* to), (path, to))
ON_PATH(link, CHANGES, (const char* path, const char* to), (path, to))
ON_PATH(truncate, CHANGES, (const char* path, off_t size), (path, size))

#define ON_PATH_AT(name, what, parameters, arguments)                                              \
    int name parameters                                                                            \
    {                                                                                              \
        REAL(name);                                                                                \
        bool counts = path[0] == '/' ? path_counts(path) : descriptor_counts(at);                  \
        return fails(counts, what, #name, path) ? -1 : real arguments;                             \
    }
ON_PATH_AT(unlinkat, CHANGES_FREELY, (int at, const char* path, int flags), (at, path, flags))
ON_PATH_AT(mkdirat, CHANGES, (int at, const char* path, mode_t mode), (at, path, mode))
ON_PATH_AT(renameat, CHANGES, (int at, const char* path, int to_at, const char* to),
           (at, path, to_at, to))
ON_PATH_AT(linkat, CHANGES, (int at, const char* path, int to_at, const char* to, int flags),
           (at, path, to_at, to, flags))

int utimensat(int at, const char* path, const struct timespec times[2], int flags)
{
    REAL(utimensat);
    return fails(path_counts(path), CHANGES_FREELY, "utimensat", path)
               ? -1
               : real(at, path, times, flags);
}

DIR* opendir(const char* path)
{
    REAL(opendir);
    return fails(path_counts(path), NEEDS_NONE, "opendir", path) ? NULL : real(path);
}

/* ------------------------------------------------------------------ streams */

static ssize_t stream_read(void* cookie, char* data, size_t size)
{
    return read((int)(intptr_t)cookie, data, size);
}

static ssize_t stream_write(void* cookie, const char* data, size_t size)
{
    ssize_t done = write((int)(intptr_t)cookie, data, size);
    return done < 0 ? 0 : done;
}

static int stream_seek(void* cookie, off64_t* offset, int whence)
{
    off64_t at = lseek64((int)(intptr_t)cookie, *offset, whence);
    *offset = at;
    return at < 0 ? -1 : 0;
}

static int stream_close(void* cookie)
{
    return close((int)(intptr_t)cookie);
}

/* Descriptors of streams: fileno() of a cookie's stream knows none. */
static struct
{
    FILE* stream;
    int fd;
} streams[256];

static FILE* stream_of(int fd, const char* mode)
{
    cookie_io_functions_t functions = {stream_read, stream_write, stream_seek, stream_close};
    FILE* stream = fopencookie((void*)(intptr_t)fd, mode, functions);
    for (int i = 0; stream && i < 256; ++i)
        if (!streams[i].stream)
        {
            streams[i].fd = fd;
            streams[i].stream = stream;
            break;
        }
    return stream;
}

static int flags_of(const char* mode)
{
    int both = strchr(mode, '+') ? O_RDWR : 0;
    if (mode[0] == 'r')
        return both ? both : O_RDONLY;
    return (both ? both : O_WRONLY) | O_CREAT | (mode[0] == 'w' ? O_TRUNC : O_APPEND) |
           (strchr(mode, 'x') ? O_EXCL : 0);
}

#define FOPEN(name)                                                                                \
    FILE* name(const char* path, const char* mode)                                                 \
    {                                                                                              \
        REAL(name);                                                                                \
        if (!path_counts(path))                                                                    \
            return real(path, mode);                                                               \
        int fd = open(path, flags_of(mode) | O_CLOEXEC, 0666);                                     \
        return fd < 0 ? NULL : stream_of(fd, mode);                                                \
    }
FOPEN(fopen)
FOPEN(fopen64)

FILE* fdopen(int fd, const char* mode)
{
    REAL(fdopen);
    return descriptor_counts(fd) ? stream_of(fd, mode) : real(fd, mode);
}

int fileno(FILE* stream)
{
    REAL(fileno);
    for (int i = 0; i < 256; ++i)
        if (streams[i].stream == stream)
            return streams[i].fd;
    return real(stream);
}

int fclose(FILE* stream)
{
    REAL(fclose);
    for (int i = 0; i < 256; ++i)
        if (streams[i].stream == stream)
            streams[i].stream = NULL;
    return real(stream);
}
