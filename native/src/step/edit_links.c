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

static uint32_t list_links(const pl_edit* edit, pl_link_copy* out)
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
                out[at] = (pl_link_copy){fine, c, i};
            }
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

static void links_free(pl_links* links)
{
    pl_free(links->fine);
    pl_free(links->coarse);
    pl_free(links->u);
    pl_free(links->b);
    pl_free(links->q);
    pl_free(links->by_fine);
}

pl_status pl_links_build(pl_body* body, const pl_link_copy* list, uint32_t count)
{
    pl_links* old = &body->links;
    uint32_t clusters = body->clusters.count;
    pl_links fresh = {.count = count,
                      .fine = PL_NEW(uint32_t, count),
                      .coarse = PL_NEW(uint32_t, count),
                      .u = PL_NEW(float, count),
                      .b = pl_alloc(count, sizeof *fresh.b),
                      .q = pl_alloc(count, sizeof *fresh.q),
                      .by_fine = PL_NEW(uint32_t, count)};
    if (!fresh.fine || !fresh.coarse || !fresh.u || !fresh.b || !fresh.q || !fresh.by_fine)
    {
        links_free(&fresh);
        return pl_fail_memory((size_t)count * 80);
    }
    memset(old->by_coarse_begin, 0, sizeof(uint32_t) * ((size_t)clusters + 1));
    for (uint32_t i = 0; i < count; ++i)
    {
        fresh.fine[i] = list[i].fine;
        fresh.coarse[i] = list[i].coarse;
        fresh.u[i] = old->u[list[i].from];
        memcpy(fresh.b[i], old->b[list[i].from], sizeof *fresh.b);
        memcpy(fresh.q[i], old->q[list[i].from], sizeof *fresh.q);
        ++old->by_coarse_begin[list[i].coarse + 1];
    }
    for (uint32_t c = 0; c < clusters; ++c)
        old->by_coarse_begin[c + 1] += old->by_coarse_begin[c];
    links_free(old);
    old->count = count;
    old->fine = fresh.fine, old->coarse = fresh.coarse, old->u = fresh.u;
    old->b = fresh.b, old->q = fresh.q, old->by_fine = fresh.by_fine;
    sort_by_fine(old, clusters);
    for (uint32_t l = 1; l < body->level_count; ++l)
        body->level_memberships[l] = old->by_coarse_begin[body->level_begin[l + 1]] -
                                     old->by_coarse_begin[body->level_begin[l]];
    pl_runs_free(&old->runs);
    return PLIANT_OK;
}

pl_status pl_edit_link(pl_edit* edit)
{
    const pl_links* old = &edit->body->links;
    if (!has_work(edit))
        return PLIANT_OK;
    /* each added cluster has as many links as what it is like */
    size_t room = old->count;
    for (size_t n = 0; n < edit->added_count; ++n)
        room +=
            old->by_fine_begin[edit->added[n].like + 1] - old->by_fine_begin[edit->added[n].like];
    pl_link_copy* list = PL_NEW(pl_link_copy, room);
    pl_status status = list ? pl_links_build(edit->body, list, list_links(edit, list))
                            : pl_fail_memory(room * sizeof *list);
    pl_free(list);
    return status;
}
