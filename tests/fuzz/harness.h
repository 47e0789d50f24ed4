// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Fuzz harnesses. Each runs the library with arbitrary bytes. A failed CHECK, the status
 * PLIANT_ERROR_INTERNAL, a sanitizer report, a leak, a hang or too much memory is a defect.
 *
 *   target.c                     one program of libFuzzer for each harness (preset "fuzz")
 *   native/api/test_fuzz_inputs.c    replays corpus/ and regressions/ in the ordinary native tests
 *
 * Inputs are recipes (which scene, which edits), not the files themselves: they stay small, and a
 * new version of a file format does not make them useless.
 */
#ifndef PLIANT_FUZZ_HARNESS_H
#define PLIANT_FUZZ_HARNESS_H

#include <stddef.h>
#include <stdint.h>

/* State blocks: edits of the saved block of a scene; restore, then every call. */
void fuzz_state(const uint8_t* data, size_t bytes);
/* Frame stores: edits of the files and the journal of a store; every read call, then a resumed
 * bake. */
void fuzz_store(const uint8_t* data, size_t bytes);
/* Programs of API calls, also from within the progress callback. */
void fuzz_calls(const uint8_t* data, size_t bytes);
/* Meshes: triangle soups of any scale as bodies, skins and colliders. */
void fuzz_mesh(const uint8_t* data, size_t bytes);

#endif
