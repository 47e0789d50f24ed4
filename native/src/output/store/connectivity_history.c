// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * History of shared clusters. Layouts are visited from the last one back: all pairs of the last
 * that share a cluster, then of each earlier one the pairs that are not known yet. Sharing ends
 * with a change of memberships, so earlier layouts only need pairs with a changed particle. A grid
 * over rest positions gives candidates.
 */
#include "output/store/connectivity_history.h"

#include "output/store/frames_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ a set of pairs */

typedef struct pair_set
{
    uint64_t* key; /* 0: free; otherwise 1 + (a << 32 | b) */
    double* until;
    size_t size, count; /* size is a power of two */
} pair_set;

static size_t place_of(const pair_set* set, uint64_t key)
{
    uint64_t mixed = key * 0x9e3779b97f4a7c15ull;
    size_t at = (size_t)(mixed >> 20) & (set->size - 1);
    while (set->key[at] && set->key[at] != key)
        at = (at + 1) & (set->size - 1);
    return at;
}

static bool grow(pair_set* set)
{
    pair_set larger = {.size = set->size ? 2 * set->size : 1 << 16};
    larger.key = PL_NEW(uint64_t, larger.size);
    larger.until = PL_NEW(double, larger.size);
    if (!larger.key || !larger.until)
    {
        pl_free(larger.key);
        pl_free(larger.until);
        return false;
    }
    for (size_t i = 0; i < set->size; ++i)
        if (set->key[i])
        {
            size_t at = place_of(&larger, set->key[i]);
            larger.key[at] = set->key[i];
            larger.until[at] = set->until[i];
        }
    larger.count = set->count;
    pl_free(set->key);
    pl_free(set->until);
    *set = larger;
    return true;
}

/* Adds a pair unless it is known. */
static bool add_pair(pair_set* set, uint32_t a, uint32_t b, double until)
{
    if (2 * set->count >= set->size && !grow(set))
        return false;
    uint64_t key = 1 + ((uint64_t)PL_MIN(a, b) << 32 | PL_MAX(a, b));
    size_t at = place_of(set, key);
    if (set->key[at])
        return true;
    set->key[at] = key;
    set->until[at] = until;
    ++set->count;
    return true;
}

/* ------------------------------------------------------------------ neighbours */

typedef struct grid
{
    const float* rest;
    double low[3], size;
    uint32_t cells[3];
    uint32_t *begin, *particle; /* by cell */
} grid;

static uint32_t cell_along(const grid* g, int k, double x)
{
    double at = (x - g->low[k]) / g->size;
    return at > 0 ? (uint32_t)PL_MIN(at, (double)g->cells[k] - 1) : 0;
}

static size_t cell_of(const grid* g, const float* x)
{
    return ((size_t)cell_along(g, 2, x[2]) * g->cells[1] + cell_along(g, 1, x[1])) * g->cells[0] +
           cell_along(g, 0, x[0]);
}

static void grid_free(grid* g)
{
    pl_free(g->begin);
    pl_free(g->particle);
}

static pl_status grid_make(const pl_frame_body* final, double reach, grid* g)
{
    double high[3];
    *g = (grid){.rest = final->rest, .size = reach};
    for (int k = 0; k < 3; ++k)
    {
        g->low[k] = INFINITY, high[k] = -INFINITY;
        for (uint32_t i = 0; i < final->particles; ++i)
        {
            g->low[k] = fmin(g->low[k], final->rest[3 * (size_t)i + k]);
            high[k] = fmax(high[k], final->rest[3 * (size_t)i + k]);
        }
        g->cells[k] = (uint32_t)PL_CLAMP((high[k] - g->low[k]) / reach + 1, 1.0, 512.0);
        g->size = fmax(g->size, (high[k] - g->low[k]) / g->cells[k]);
    }
    size_t cells = (size_t)g->cells[0] * g->cells[1] * g->cells[2];
    g->begin = PL_NEW(uint32_t, cells + 2);
    g->particle = PL_NEW(uint32_t, final->particles);
    if (!g->begin || !g->particle)
        return pl_fail_memory(cells * 4);
    uint32_t* at = g->begin + 1; /* offset by one: filling restores the begins */
    for (uint32_t i = 0; i < final->particles; ++i)
        ++at[cell_of(g, final->rest + 3 * (size_t)i) + 1];
    for (size_t c = 0; c < cells; ++c)
        at[c + 1] += at[c];
    for (uint32_t i = 0; i < final->particles; ++i)
        g->particle[at[cell_of(g, final->rest + 3 * (size_t)i)]++] = i;
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ shared clusters */

static bool share(const pl_frame_body* b, uint32_t i, uint32_t j)
{
    for (uint32_t m = b->begin[i]; m < b->begin[i + 1]; ++m)
        for (uint32_t n = b->begin[j]; n < b->begin[j + 1]; ++n)
            if (b->cluster[m] == b->cluster[n])
                return true;
    return false;
}

/* Adds pairs of one particle with its neighbours. With "changed" the other must follow it if it
 * changed too. */
static bool pair_up(const grid* g, const pl_frame_body* b, uint32_t i, const uint8_t* changed,
                    double reach, double until, pair_set* set)
{
    const float* x = g->rest + 3 * (size_t)i;
    uint32_t low[3], high[3];
    for (int k = 0; k < 3; ++k)
    {
        low[k] = cell_along(g, k, x[k] - reach);
        high[k] = cell_along(g, k, x[k] + reach);
    }
    for (uint32_t z = low[2]; z <= high[2]; ++z)
        for (uint32_t y = low[1]; y <= high[1]; ++y)
        {
            size_t row = ((size_t)z * g->cells[1] + y) * g->cells[0];
            for (uint32_t n = g->begin[row + low[0]]; n < g->begin[row + high[0] + 1]; ++n)
            {
                uint32_t j = g->particle[n];
                /* each pair once: from the changed one, or from the lower of two */
                if (j == i || j >= b->particles || ((!changed || changed[j]) && j < i))
                    continue;
                double square = 0;
                for (int k = 0; k < 3; ++k)
                    square += (g->rest[3 * (size_t)j + k] - x[k]) *
                              (double)(g->rest[3 * (size_t)j + k] - x[k]);
                if (square <= reach * reach && share(b, i, j) && !add_pair(set, i, j, until))
                    return false;
            }
        }
    return true;
}

/* Flags particles whose memberships differ from the later layout. */
static void find_changed(const pl_frame_body* b, const uint32_t* begin, const uint32_t* cluster,
                         uint8_t* changed)
{
    for (uint32_t i = 0; i < b->particles; ++i)
    {
        uint32_t count = b->begin[i + 1] - b->begin[i];
        changed[i] = begin[i + 1] - begin[i] != count ||
                     memcmp(b->cluster + b->begin[i], cluster + begin[i], 4 * (size_t)count) != 0;
    }
}

/* Memberships of the layout visited before. */
typedef struct later
{
    uint32_t *begin, *cluster;
} later;

static bool keep(const pl_frame_body* b, later* l)
{
    pl_free(l->begin);
    pl_free(l->cluster);
    l->begin = PL_NEW(uint32_t, (size_t)b->particles + 1);
    l->cluster = PL_NEW(uint32_t, b->memberships);
    if (!l->begin || !l->cluster)
        return false;
    memcpy(l->begin, b->begin, 4 * ((size_t)b->particles + 1));
    if (b->memberships)
        memcpy(l->cluster, b->cluster, 4 * b->memberships);
    return true;
}

static pl_status look_back(pl_frame_store* store, uint32_t index, const pl_frame_body* final,
                           double reach, const grid* g, pair_set* set)
{
    const pl_journal* journal = &store->journal;
    uint8_t* changed = PL_NEW(uint8_t, final->particles);
    later l = {0};
    bool fine = changed != NULL;
    pl_status status = PLIANT_OK;
    for (size_t f = journal->frame_count; f-- > 0 && fine && status == PLIANT_OK;)
    {
        const pl_journal_record* record = &journal->frames[f];
        bool last = f + 1 == journal->frame_count;
        if ((!last && record->layout == record[1].layout) || index >= record->bodies)
            continue;
        status = pl_store_load_layout(store, record);
        if (status != PLIANT_OK)
            break;
        const pl_frame_body* b = &store->bodies[index];
        if (b->particles > final->particles)
            status = pl_fail(PLIANT_ERROR_FORMAT, "frame %d has particles that are gone later",
                             record->frame);
        if (!last && status == PLIANT_OK)
            find_changed(b, l.begin, l.cluster, changed);
        for (uint32_t i = 0; i < b->particles && fine && status == PLIANT_OK; ++i)
            if (last || changed[i])
                fine = pair_up(g, b, i, last ? NULL : changed, reach,
                               last ? INFINITY : record->frame, set);
        fine = fine && status == PLIANT_OK && keep(b, &l);
    }
    pl_free(changed);
    pl_free(l.begin);
    pl_free(l.cluster);
    return fine || status != PLIANT_OK ? status : pl_fail_memory(set->count * 16);
}

static int ascending(const void* a, const void* b)
{
    const pl_separated_pair *x = a, *y = b;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return (x->b > y->b) - (x->b < y->b);
}

static pl_status list_pairs(const pair_set* set, pl_connectivity_history* parted)
{
    pl_separated_pair* items = PL_NEW(pl_separated_pair, set->count);
    size_t count = 0;
    if (!items)
        return pl_fail_memory(set->count * sizeof *items);
    for (size_t i = 0; i < set->size; ++i)
        if (set->key[i])
            items[count++] = (pl_separated_pair){(uint32_t)((set->key[i] - 1) >> 32),
                                                 (uint32_t)(set->key[i] - 1), set->until[i]};
    qsort(items, count, sizeof *items, ascending);
    pl_free(parted->items);
    parted->items = items;
    parted->count = count;
    return PLIANT_OK;
}

pl_status pl_connectivity_history_find(pl_frame_store* store, uint32_t body, double reach,
                                       pl_connectivity_history* parted)
{
    const pl_frame_body* final;
    pair_set set = {0};
    grid g = {0};
    PL_TRY(pl_frames_final(store, body, &final));
    if (!(reach > 0))
        reach = 3 * final->spacing;
    if (parted->items && parted->body == body && parted->reach == reach &&
        parted->layout == store->final_layout)
        return PLIANT_OK;
    pl_status status = grid_make(final, reach, &g);
    if (status == PLIANT_OK)
        status = look_back(store, body, final, reach, &g, &set);
    if (status == PLIANT_OK)
        status = list_pairs(&set, parted);
    if (status == PLIANT_OK)
        parted->body = body, parted->reach = reach, parted->layout = store->final_layout;
    grid_free(&g);
    pl_free(set.key);
    pl_free(set.until);
    return status;
}
