// SPDX-License-Identifier: GPL-3.0-or-later
/* Everything that depends on the operating system. Only platform.c includes system headers. */
#ifndef PL_BASE_PLATFORM_H
#define PL_BASE_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PL_THREAD_LOCAL _Thread_local

void* pl_aligned_alloc(size_t alignment, size_t bytes);
void pl_aligned_free(void* block);

uint32_t pl_core_count(void);

/* Threads: a mutex with one condition, and joinable threads. */
typedef struct pl_thread pl_thread;
typedef struct pl_monitor pl_monitor;

pl_thread* pl_thread_start(void (*run)(void*), void* user); /* NULL on failure */
void pl_thread_join(pl_thread* thread);                     /* and frees it */
pl_monitor* pl_monitor_create(void);                        /* NULL on failure */
void pl_monitor_destroy(pl_monitor* monitor);
void pl_monitor_lock(pl_monitor* monitor);
void pl_monitor_unlock(pl_monitor* monitor);
void pl_monitor_wait(pl_monitor* monitor); /* locked on entry and return; may wake spuriously */
void pl_monitor_wake_one(pl_monitor* monitor);
void pl_monitor_wake_all(pl_monitor* monitor);
void pl_spin_pause(void);

/* The floating-point state (rounding, flush-to-zero), so that a step can set its own. */
uint32_t pl_fp_state_enter(void); /* sets round-to-nearest, flush-to-zero; returns the old state */
void pl_fp_state_leave(uint32_t state);

/* Files. Paths are UTF-8. Functions that return bool set errno on failure. */
bool pl_file_sync(void* stdio_file);                    /* flush and fsync a FILE* */
bool pl_directory_sync(const char* path);               /* makes a rename survive a crash */
bool pl_file_replace(const char* from, const char* to); /* atomic rename over an existing file */
bool pl_directory_make(const char* path);               /* with parents; true if it exists */
bool pl_file_remove(const char* path);                  /* true if it is gone */
int64_t pl_file_size(const char* path);                 /* -1: not there */
bool pl_file_truncate(void* stdio_file, int64_t bytes);
/* A FILE* for "rb", "r+b" or "wb", or NULL with errno set. Regular files only: it neither follows
   symbolic links nor blocks on pipes. "wb" removes an existing file and creates a new one. */
void* pl_file_open(const char* path, const char* mode);
/* Calls "each" with every name in a folder (not . and ..); false if it cannot be read. */
bool pl_directory_list(const char* path, void (*each)(void* user, const char* name), void* user);

#endif
