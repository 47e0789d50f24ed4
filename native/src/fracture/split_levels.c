// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Division of coarse clusters of nested levels. A coarse cluster consists of finer ones, and these
 * of others, down to the finest, which are connected by shared particles. When the descendants of a
 * coarse cluster are no longer connected, it is divided, level by level from the finest up: the
 * heaviest connected component keeps it, each of the others gets a copy with the same links upward.
 *
 *     level 2        C                C                      the crack is between f and g: c has
 *                   / \              / \ \                   both and is divided; then C is tested:
 *     level 1      c   d     ──►    c  c' d                  c' and d are connected by h, so it
 *                 /|\ / \          / \ | / \                 stays whole
 *     finest     e f g   h        e  f g    h
 *
 * Links keep their u, B and q; pl_rest_refresh then makes q relative to the new centre.
 */
#include "base/union_find.h"
#include "body/edit/edit.h"
#include "body/layout.h"
#include "fracture/fracture_internal.h"

#include <stdlib.h>
#include <string.h>

typedef struct dividing
{
    pl_breaking* b;
    pl_body* body;
    uint32_t* into; /* by finest cluster: union-find forest */
    uint32_t* mark; /* by finest cluster: 1 + the coarse cluster it was last visited from */
    uint32_t* list; /* of descendants */
    uint32_t count;
    uint32_t* part;   /* by link: component of its coarse cluster, from 1 */
    uint8_t* divided; /* by cluster: its links changed */
} dividing;

/* Lists the finest clusters below a cluster, without duplicates. */
static void descend(dividing* d, uint32_t level, uint32_t cluster, uint32_t mark)
{
    const pl_links* links = &d->body->links;
    if (level == 0)
    {
        if (d->mark[cluster] != mark)
        {
            d->mark[cluster] = mark;
            d->into[cluster] = cluster;
            d->list[d->count++] = cluster;
        }
        return;
    }
    for (uint32_t i = links->by_coarse_begin[cluster]; i < links->by_coarse_begin[cluster + 1]; ++i)
        descend(d, level - 1, links->fine[i], mark);
}

static uint32_t first_below(const dividing* d, uint32_t level, uint32_t cluster)
{
    const pl_links* links = &d->body->links;
    for (; level > 0; --level)
        cluster = links->fine[links->by_coarse_begin[cluster]];
    return cluster;
}

/* Unites the descendants that share particles, if any of them lost an edge (the return value). */
static bool connect(dividing* d, uint32_t mark)
{
    const pl_fracture* f = d->b->fracture;
    bool any = false;
    for (uint32_t n = 0; n < d->count; ++n)
        any = any || d->b->parted[d->list[n]];
    for (uint32_t n = 0; n < d->count && any; ++n)
    {
        const pl_shares* shares = &f->shares[d->list[n]];
        for (uint32_t i = 0; i < shares->count; ++i)
            if (d->mark[shares->items[i].cluster] == mark)
                pl_union_find_unite(d->into, shares->items[i].cluster, d->list[n]);
    }
    return any;
}

/* Assigns the links of a coarse cluster to connected components; returns their number. */
static uint32_t find_parts(dividing* d, uint32_t level, uint32_t c)
{
    const pl_links* links = &d->body->links;
    const pl_clusters* k = &d->body->clusters;
    uint32_t begin = links->by_coarse_begin[c], end = links->by_coarse_begin[c + 1], count = 0;
    d->count = 0;
    descend(d, level, c, c + 1);
    if (!connect(d, c + 1))
        return 1;
    double heaviest = -1;
    uint32_t stays = 0;
    for (uint32_t i = begin; i < end; ++i)
    {
        uint32_t root = pl_union_find_root(d->into, first_below(d, level - 1, links->fine[i]));
        double mass = 0;
        d->part[i] = 0;
        for (uint32_t j = begin; j < i && !d->part[i]; ++j)
            if (pl_union_find_root(d->into, first_below(d, level - 1, links->fine[j])) == root)
                d->part[i] = d->part[j];
        if (d->part[i])
            continue;
        d->part[i] = ++count;
        for (uint32_t j = i; j < end; ++j)
            if (pl_union_find_root(d->into, first_below(d, level - 1, links->fine[j])) == root)
                mass += (double)links->u[j] * k->mass[links->fine[j]];
        if (mass > heaviest)
            heaviest = mass, stays = count;
    }
    for (uint32_t i = begin; i < end; ++i) /* the heaviest becomes number 1 */
        d->part[i] = d->part[i] == stays ? 1 : d->part[i] == 1 ? stays : d->part[i];
    return count;
}

static int by_coarse(const void* a, const void* b)
{
    const pl_link_copy *x = a, *y = b;
    if (x->coarse != y->coarse)
        return x->coarse < y->coarse ? -1 : 1;
    return (x->fine > y->fine) - (x->fine < y->fine);
}

/* The next dead cluster from "at" on; make_room has made sure that there is one. */
static uint32_t next_dead(const pl_body* body, uint32_t at)
{
    while (body->clusters.fade[at] > 0)
        ++at;
    return at;
}

/* Makes room for "more" clusters in a level. */
static pl_status make_room(pl_body* body, uint32_t level, uint32_t more)
{
    uint32_t dead = 0;
    for (uint32_t c = body->level_begin[level]; c < body->level_begin[level + 1]; ++c)
        dead += !(body->clusters.fade[c] > 0);
    return dead >= more ? PLIANT_OK : pl_clusters_room(body, level, PL_MAX(more - dead, 8u));
}

/* Rebuilds the links: those of the level by component, and copies of the links upward for the new
 * clusters. */
static pl_status relink(dividing* d, uint32_t level, const uint32_t* parts_of, size_t most)
{
    pl_body* body = d->body;
    const pl_links* links = &body->links;
    pl_link_copy* list = PL_NEW(pl_link_copy, most);
    uint32_t count = 0, dead = body->level_begin[level], first = dead;
    if (!list)
        return pl_fail_memory(most * sizeof *list);
    for (uint32_t i = 0; i < links->count; ++i)
        list[count++] = (pl_link_copy){links->fine[i], links->coarse[i], i};
    for (uint32_t c = first; c < body->level_begin[level + 1]; ++c)
        for (uint32_t part = 2; part <= parts_of[c - first]; ++part)
        {
            dead = next_dead(body, dead);
            pl_cluster_copy(&body->clusters, c, dead);
            body->clusters.birth[dead] = d->b->substep;
            d->divided[c] = d->divided[dead] = 1;
            for (uint32_t i = links->by_coarse_begin[c]; i < links->by_coarse_begin[c + 1]; ++i)
                if (d->part[i] == part)
                    list[i].coarse = dead;
            for (uint32_t n = links->by_fine_begin[c]; n < links->by_fine_begin[c + 1]; ++n)
                list[count++] =
                    (pl_link_copy){dead, links->coarse[links->by_fine[n]], links->by_fine[n]};
        }
    qsort(list, count, sizeof *list, by_coarse);
    pl_status status = pl_links_build(body, list, count, NULL);
    pl_free(list);
    return status;
}

/* Marks clusters of a level without finer clusters as dead and removes their links upward. */
static pl_status remove_empty(dividing* d, uint32_t level)
{
    pl_body* body = d->body;
    const pl_links* links = &body->links;
    pl_clusters* k = &body->clusters;
    uint32_t count = 0;
    bool any = false;
    for (uint32_t c = body->level_begin[level]; c < body->level_begin[level + 1]; ++c)
        if (k->fade[c] > 0 && links->by_coarse_begin[c] == links->by_coarse_begin[c + 1])
        {
            k->fade[c] = k->mass[c] = k->alpha[c] = k->kappa[c] = 0;
            k->shape_width[c] = k->width_max[c] = k->width_rms[c] = 0;
            any = true;
        }
    pl_link_copy* list = any ? PL_NEW(pl_link_copy, links->count) : NULL;
    if (!any)
        return PLIANT_OK;
    if (!list)
        return pl_fail_memory(links->count * sizeof *list);
    for (uint32_t i = 0; i < links->count; ++i)
        if (k->fade[links->fine[i]] > 0)
            list[count++] = (pl_link_copy){links->fine[i], links->coarse[i], i};
    pl_status status = pl_links_build(body, list, count, NULL);
    pl_free(list);
    return status;
}

static pl_status divide_level(dividing* d, uint32_t level)
{
    pl_body* body = d->body;
    PL_TRY(remove_empty(d, level));
    uint32_t first = body->level_begin[level], clusters = body->level_begin[level + 1] - first;
    uint32_t* parts_of = PL_NEW(uint32_t, clusters);
    uint32_t more = 0;
    d->part = PL_NEW(uint32_t, body->links.count);
    if (!parts_of || !d->part)
    {
        pl_free(parts_of);
        return pl_fail_memory((size_t)body->links.count * 4);
    }
    size_t most = body->links.count;
    memset(d->mark, 0, sizeof *d->mark * body->level_begin[1]);
    for (uint32_t c = first; c < first + clusters; ++c)
    {
        const uint32_t* up = body->links.by_fine_begin + c;
        parts_of[c - first] = body->clusters.fade[c] > 0 ? find_parts(d, level, c) : 1;
        more += parts_of[c - first] - 1;
        most += (size_t)(parts_of[c - first] - 1) * (up[1] - up[0]);
    }
    pl_status status = more ? make_room(body, level, more) : PLIANT_OK;
    if (more && status == PLIANT_OK)
    {
        /* the number of clusters may have grown: arrays by cluster grow with it */
        uint32_t* wider = pl_realloc(parts_of, body->level_begin[level + 1] - first, sizeof *wider);
        uint8_t* flags = pl_realloc(d->divided, body->clusters.count, 1);
        parts_of = wider ? wider : parts_of;
        d->divided = flags ? flags : d->divided;
        status = wider && flags ? relink(d, level, parts_of, most) : pl_fail_memory(64);
    }
    pl_free(parts_of);
    pl_free(d->part);
    d->part = NULL;
    return status;
}

pl_status pl_levels_part(pl_breaking* b)
{
    pl_body* body = b->body;
    uint32_t finest = body->level_begin[1];
    if (body->level_count < 2)
        return PLIANT_OK;
    dividing d = {.b = b,
                  .body = body,
                  .into = PL_NEW(uint32_t, finest),
                  .mark = PL_NEW(uint32_t, finest),
                  .list = PL_NEW(uint32_t, finest),
                  .divided = PL_NEW(uint8_t, body->clusters.count)};
    uint8_t* chunks = PL_NEW(uint8_t, body->chunk_count);
    bool room = pl_grow((void**)&b->parted, &b->parted_capacity, finest, 1);
    pl_status status = room && d.into && d.mark && d.list && d.divided && chunks
                           ? PLIANT_OK
                           : pl_fail_memory((size_t)finest * 12);
    for (uint32_t l = 1; l < body->level_count && status == PLIANT_OK; ++l)
        status = divide_level(&d, l);
    if (status == PLIANT_OK)
        status = pl_rest_refresh(body, chunks, d.divided);
    pl_free(d.into);
    pl_free(d.mark);
    pl_free(d.list);
    pl_free(d.divided);
    pl_free(chunks);
    return status;
}
