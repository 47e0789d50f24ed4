// SPDX-License-Identifier: GPL-3.0-or-later
#if !defined(_WIN32)
#define _GNU_SOURCE 1
#endif
#include "base/platform.h"

#include "base/core.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SSE2__) || defined(_M_X64)
#include <xmmintrin.h>
#endif

#if defined(_WIN32)
#include <direct.h>
#include <io.h>
#include <malloc.h>
#include <windows.h>
#else
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#endif

void pl_spin_pause(void)
{
#if defined(__SSE2__) || defined(_M_X64)
    _mm_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Bits of MXCSR: flush-to-zero, denormals-are-zero, and the rounding mode (nearest is 0). */
uint32_t pl_fp_state_enter(void)
{
#if defined(__SSE2__) || defined(_M_X64)
    uint32_t old = _mm_getcsr();
    _mm_setcsr((old & ~0x6000u) | 0x8040u);
    return old;
#elif defined(__aarch64__)
    uint64_t old;
    __asm__ volatile("mrs %0, fpcr" : "=r"(old));
    uint64_t set = (old & ~(3ull << 22)) | (1ull << 24);
    __asm__ volatile("msr fpcr, %0" ::"r"(set));
    return (uint32_t)old;
#else
    return 0;
#endif
}

void pl_fp_state_leave(uint32_t state)
{
#if defined(__SSE2__) || defined(_M_X64)
    _mm_setcsr(state);
#elif defined(__aarch64__)
    uint64_t value = state;
    __asm__ volatile("msr fpcr, %0" ::"r"(value));
#else
    (void)state;
#endif
}

#if defined(_WIN32)

void* pl_aligned_alloc(size_t alignment, size_t bytes)
{
    return _aligned_malloc(bytes, alignment);
}

void pl_aligned_free(void* block)
{
    _aligned_free(block);
}

uint32_t pl_core_count(void)
{
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return info.dwNumberOfProcessors ? info.dwNumberOfProcessors : 1;
}

double pl_now_ms(void)
{
    LARGE_INTEGER now, frequency;
    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&frequency);
    return (double)now.QuadPart * 1e3 / (double)frequency.QuadPart;
}

struct pl_thread
{
    HANDLE handle;
    void (*run)(void*);
    void* user;
};

static DWORD WINAPI thread_main(void* thread)
{
    struct pl_thread* self = thread;
    self->run(self->user);
    return 0;
}

pl_thread* pl_thread_start(void (*run)(void*), void* user)
{
    pl_thread* thread = PL_NEW(pl_thread, 1);
    if (!thread)
        return NULL;
    thread->run = run;
    thread->user = user;
    thread->handle = CreateThread(NULL, 0, thread_main, thread, 0, NULL);
    if (!thread->handle)
    {
        pl_free(thread);
        return NULL;
    }
    return thread;
}

void pl_thread_join(pl_thread* thread)
{
    WaitForSingleObject(thread->handle, INFINITE);
    CloseHandle(thread->handle);
    pl_free(thread);
}

struct pl_monitor
{
    SRWLOCK lock;
    CONDITION_VARIABLE condition;
};

pl_monitor* pl_monitor_create(void)
{
    pl_monitor* monitor = PL_NEW(pl_monitor, 1);
    if (monitor)
    {
        InitializeSRWLock(&monitor->lock);
        InitializeConditionVariable(&monitor->condition);
    }
    return monitor;
}

void pl_monitor_destroy(pl_monitor* monitor)
{
    pl_free(monitor);
}

void pl_monitor_lock(pl_monitor* monitor)
{
    AcquireSRWLockExclusive(&monitor->lock);
}

void pl_monitor_unlock(pl_monitor* monitor)
{
    ReleaseSRWLockExclusive(&monitor->lock);
}

void pl_monitor_wait(pl_monitor* monitor)
{
    SleepConditionVariableSRW(&monitor->condition, &monitor->lock, INFINITE, 0);
}

void pl_monitor_wake_one(pl_monitor* monitor)
{
    WakeConditionVariable(&monitor->condition);
}

void pl_monitor_wake_all(pl_monitor* monitor)
{
    WakeAllConditionVariable(&monitor->condition);
}

/* UTF-8 to UTF-16 in the caller's buffer; false if it is too long or not UTF-8. */
static bool wide(const char* path, wchar_t out[1024])
{
    return MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, out, 1024) > 0;
}

bool pl_file_sync(void* file)
{
    return fflush(file) == 0 && _commit(_fileno(file)) == 0;
}

bool pl_directory_sync(const char* path)
{
    (void)path; /* NTFS journals renames */
    return true;
}

bool pl_file_replace(const char* from, const char* to)
{
    wchar_t a[1024], b[1024];
    return wide(from, a) && wide(to, b) &&
           MoveFileExW(a, b, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH);
}

static bool make_one(const char* path)
{
    wchar_t name[1024];
    return wide(path, name) &&
           (CreateDirectoryW(name, NULL) || GetLastError() == ERROR_ALREADY_EXISTS);
}

bool pl_file_remove(const char* path)
{
    wchar_t name[1024];
    return wide(path, name) && (DeleteFileW(name) || GetLastError() == ERROR_FILE_NOT_FOUND);
}

int64_t pl_file_size(const char* path)
{
    wchar_t name[1024];
    WIN32_FILE_ATTRIBUTE_DATA data;
    if (!wide(path, name) || !GetFileAttributesExW(name, GetFileExInfoStandard, &data))
        return -1;
    return ((int64_t)data.nFileSizeHigh << 32) | data.nFileSizeLow;
}

bool pl_file_truncate(void* file, int64_t bytes)
{
    return fflush(file) == 0 && _chsize_s(_fileno(file), bytes) == 0;
}

void* pl_file_open(const char* path, const char* mode)
{
    wchar_t name[1024], how[16];
    if (!wide(path, name) || !wide(mode, how))
        return NULL;
    DWORD attributes = GetFileAttributesW(name);
    if (attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_REPARSE_POINT))
    {
        errno = EACCES;
        return NULL;
    }
    return _wfopen(name, how);
}

bool pl_directory_list(const char* path, void (*each)(void*, const char*), void* user)
{
    char pattern[1024];
    wchar_t name[1024];
    WIN32_FIND_DATAW found;
    if (snprintf(pattern, sizeof pattern, "%s\\*", path) >= (int)sizeof pattern ||
        !wide(pattern, name))
        return false;
    HANDLE handle = FindFirstFileW(name, &found);
    if (handle == INVALID_HANDLE_VALUE)
        return false;
    do
    {
        char utf8[1024];
        if (WideCharToMultiByte(CP_UTF8, 0, found.cFileName, -1, utf8, sizeof utf8, NULL, NULL) &&
            strcmp(utf8, ".") != 0 && strcmp(utf8, "..") != 0)
            each(user, utf8);
    } while (FindNextFileW(handle, &found));
    FindClose(handle);
    return true;
}

#else

void* pl_aligned_alloc(size_t alignment, size_t bytes)
{
    void* block = NULL;
    return posix_memalign(&block, alignment, bytes) == 0 ? block : NULL;
}

void pl_aligned_free(void* block)
{
    free(block);
}

uint32_t pl_core_count(void)
{
#if defined(__linux__)
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return (uint32_t)CPU_COUNT(&set);
#endif
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (uint32_t)count : 1;
}

double pl_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

struct pl_thread
{
    pthread_t handle;
    void (*run)(void*);
    void* user;
};

static void* thread_main(void* thread)
{
    struct pl_thread* self = thread;
    self->run(self->user);
    return NULL;
}

pl_thread* pl_thread_start(void (*run)(void*), void* user)
{
    pl_thread* thread = PL_NEW(pl_thread, 1);
    if (!thread)
        return NULL;
    thread->run = run;
    thread->user = user;
    if (pthread_create(&thread->handle, NULL, thread_main, thread) != 0)
    {
        pl_free(thread);
        return NULL;
    }
    return thread;
}

void pl_thread_join(pl_thread* thread)
{
    pthread_join(thread->handle, NULL);
    pl_free(thread);
}

struct pl_monitor
{
    pthread_mutex_t lock;
    pthread_cond_t condition;
};

pl_monitor* pl_monitor_create(void)
{
    pl_monitor* monitor = PL_NEW(pl_monitor, 1);
    if (monitor)
    {
        pthread_mutex_init(&monitor->lock, NULL);
        pthread_cond_init(&monitor->condition, NULL);
    }
    return monitor;
}

void pl_monitor_destroy(pl_monitor* monitor)
{
    if (!monitor)
        return;
    pthread_cond_destroy(&monitor->condition);
    pthread_mutex_destroy(&monitor->lock);
    pl_free(monitor);
}

void pl_monitor_lock(pl_monitor* monitor)
{
    pthread_mutex_lock(&monitor->lock);
}

void pl_monitor_unlock(pl_monitor* monitor)
{
    pthread_mutex_unlock(&monitor->lock);
}

void pl_monitor_wait(pl_monitor* monitor)
{
    pthread_cond_wait(&monitor->condition, &monitor->lock);
}

void pl_monitor_wake_one(pl_monitor* monitor)
{
    pthread_cond_signal(&monitor->condition);
}

void pl_monitor_wake_all(pl_monitor* monitor)
{
    pthread_cond_broadcast(&monitor->condition);
}

bool pl_file_sync(void* file)
{
    return fflush(file) == 0 && fsync(fileno(file)) == 0;
}

bool pl_directory_sync(const char* path)
{
    int folder = open(path, O_RDONLY);
    if (folder < 0)
        return false;
    bool done = fsync(folder) == 0 || errno == EINVAL || errno == ENOTSUP;
    close(folder);
    return done;
}

bool pl_file_replace(const char* from, const char* to)
{
    return rename(from, to) == 0;
}

static bool make_one(const char* path)
{
    struct stat info;
    return mkdir(path, 0777) == 0 ||
           (errno == EEXIST && stat(path, &info) == 0 && S_ISDIR(info.st_mode));
}

bool pl_file_remove(const char* path)
{
    return unlink(path) == 0 || errno == ENOENT;
}

int64_t pl_file_size(const char* path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) ? (int64_t)info.st_size : -1;
}

bool pl_file_truncate(void* file, int64_t bytes)
{
    return fflush(file) == 0 && ftruncate(fileno(file), bytes) == 0;
}

/* O_NONBLOCK: opening a pipe would block until its other end opens. Regular files ignore it. */
void* pl_file_open(const char* path, const char* mode)
{
    bool create = mode[0] == 'w';
    int flags = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    flags |= create ? O_WRONLY | O_CREAT | O_EXCL : strchr(mode, '+') ? O_RDWR : O_RDONLY;
    if (create && !pl_file_remove(path))
        return NULL;
    int number = open(path, flags, 0666);
    if (number < 0)
        return NULL;
    struct stat info;
    bool regular = fstat(number, &info) == 0 && S_ISREG(info.st_mode);
    FILE* file = regular ? fdopen(number, mode) : NULL;
    if (!file)
    {
        int cause = regular ? errno : EINVAL;
        close(number);
        errno = cause;
    }
    return file;
}

bool pl_directory_list(const char* path, void (*each)(void*, const char*), void* user)
{
    DIR* folder = opendir(path);
    if (!folder)
        return false;
    for (struct dirent* entry = readdir(folder); entry; entry = readdir(folder))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            each(user, entry->d_name);
    closedir(folder);
    return true;
}

#endif

bool pl_directory_make(const char* path)
{
    char partial[1024];
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof partial)
    {
        errno = length ? ENAMETOOLONG : ENOENT;
        return false;
    }
    memcpy(partial, path, length + 1);
    for (size_t i = 1; i < length; ++i)
    {
        if (partial[i] != '/' && partial[i] != '\\')
            continue;
        char separator = partial[i];
        partial[i] = 0;
        make_one(partial); /* an error here recurs below, with the right errno */
        partial[i] = separator;
    }
    return make_one(partial);
}
