// SPDX-License-Identifier: GPL-3.0-or-later
/* The SIMD paths that can run: compiled in, and supported by this machine. */
#ifndef PL_BASE_CPU_H
#define PL_BASE_CPU_H

#include <pliant.h>
#include <stdbool.h>
#include <stdint.h>

/* Whether the path (a pliant_simd) can run here. True for AUTO, false for unknown numbers. */
bool pl_cpu_has(uint32_t simd);
/* The widest path that can run here; never AUTO. */
uint32_t pl_cpu_best(void);
/* "scalar", "sse2", "avx2", "avx512", "neon"; "auto"; "unknown" for other numbers. */
const char* pl_cpu_path_name(uint32_t simd);

#endif
