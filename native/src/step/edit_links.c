// SPDX-License-Identifier: GPL-3.0-or-later
/* Links of nested levels after an edit: clusters that were added are in the coarse clusters of
 * those that they are like, with the same u, B and q (which then follows their own rest centre);
 * dead ones are in none. */
#include "edit_parts.h"

#include <string.h>

static bool is_dead(const pl_body* body, uint32_t fine)
{
    return fine < body->level_begin[1] && !(body->clusters.fade[fine] > 0);
}

/* The links that there will be: copies of old ones, as (fine, old link), by coarse cluster. */
typedef struct link_copy
{
    uint32_t fine, from;
} link_copy;

static uint32_t list_links(const pl_edit* edit, link_copy* out, uint32_t* begin)
{
    const pl_body* body = edit->body;
    const pl_links* links = &body->links;
    uint32_t count = 0;
    for (uint32_t c = 0; c < body->clusters.count; ++c)
    {
        uint32_t first = count;
        for (uint32_t i = links->by_coarse_begin[c]; i < links->by_coarse_begin[c + 1]; ++i)
            for (size_t n = 0; n <= edit->added_count; ++n)
            {
                uint32_t fine = n ? edit->added[n - 1].cluster : links->fine[i];
                if ((n && edit->added[n - 1].like != links->fine[i]) || is_dead(body, fine))
                    continue;
                uint32_t at = count++;
                for (; at > first && out[at - 1].fine > fine; --at)
                    out[at] = out[at - 1];
                out[at] = (link_copy){fine, i};
            }
        begin[c + 1] = count;
    }
    return count;
}

/* Whether anything is to be done. */
static bool has_work(const pl_edit* edit)
{
    const pl_body* body = edit->body;
    const pl_links* links = &body->links;
    bool any = edit->added_count > 0;
    for (uint32_t c = 0; c < body->level_begin[1] && links->count; ++c)
        any = any || (is_dead(body, c) && links->by_fine_begin[c] < links->by_fine_begin[c + 1]);
    return any && links->count;
}

static void sort_by_fine(pl_links* links, uint32_t clusters)
{
    uint32_t* at = links->by_fine_begin + 1;
    memset(links->by_fine_begin, 0, sizeof *at * ((size_t)clusters + 2));
    for (uint32_t i = 0; i < links->count; ++i)
        ++at[links->fine[i] + 1];
    for (uint32_t c = 0; c < clusters; ++c)
        at[c + 1] += at[c];
    for (uint32_t i = 0; i < links->count; ++i)
        links->by_fine[at[links->fine[i]]++] = i;
}

pl_status pl_edit_link(pl_edit* edit)
{
    pl_body* body = edit->body;
    pl_links* old = &body->links;
    if (!has_work(edit))
        return PLIANT_OK;
    uint32_t clusters = body->clusters.count;
    /* each added cluster has as many links as what it is like */
    size_t room = old->count;
    for (size_t n = 0; n < edit->added_count; ++n)
        room +=
            old->by_fine_begin[edit->added[n].like + 1] - old->by_fine_begin[edit->added[n].like];
    link_copy* list = PL_NEW(link_copy, room);
    uint32_t* begin = PL_NEW(uint32_t, (size_t)clusters + 1);
    uint32_t count = list && begin ? list_links(edit, list, begin) : 0;
    pl_links fresh = {.count = count,
                      .fine = PL_NEW(uint32_t, count),
                      .coarse = PL_NEW(uint32_t, count),
                      .u = PL_NEW(float, count),
                      .b = pl_alloc(count, sizeof *fresh.b),
                      .q = pl_alloc(count, sizeof *fresh.q),
                      .by_fine = PL_NEW(uint32_t, count)};
    bool fine = list && begin && fresh.fine && fresh.coarse && fresh.u && fresh.b && fresh.q &&
                fresh.by_fine;
    for (uint32_t i = 0; fine && i < count; ++i)
    {
        fresh.fine[i] = list[i].fine;
        fresh.coarse[i] = old->coarse[list[i].from];
        fresh.u[i] = old->u[list[i].from];
        memcpy(fresh.b[i], old->b[list[i].from], sizeof *fresh.b);
        memcpy(fresh.q[i], old->q[list[i].from], sizeof *fresh.q);
    }
    pl_links* unused = fine ? old : &fresh;
    pl_free(unused->fine);
    pl_free(unused->coarse);
    pl_free(unused->u);
    pl_free(unused->b);
    pl_free(unused->q);
    pl_free(unused->by_fine);
    if (fine)
    {
        old->count = count;
        old->fine = fresh.fine, old->coarse = fresh.coarse, old->u = fresh.u;
        old->b = fresh.b, old->q = fresh.q, old->by_fine = fresh.by_fine;
        memcpy(old->by_coarse_begin, begin, sizeof *begin * ((size_t)clusters + 1));
        sort_by_fine(old, clusters);
        for (uint32_t l = 1; l < body->level_count; ++l)
            body->level_memberships[l] = old->by_coarse_begin[body->level_begin[l + 1]] -
                                         old->by_coarse_begin[body->level_begin[l]];
        pl_runs_free(&old->runs);
    }
    pl_free(list);
    pl_free(begin);
    return fine ? PLIANT_OK : pl_fail_memory(room * 80);
}
