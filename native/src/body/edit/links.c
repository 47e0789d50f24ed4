// SPDX-License-Identifier: GPL-3.0-or-later
/* Links of nested levels after an edit: clusters that were added are in the coarse clusters of
 * those that they are like, with the same u, B and q (which then follows their own rest centre), or
 * where they were told to be; dead ones are in none. */
#include "body/edit/edit_internal.h"

#include <string.h>

pl_status pl_edit_set_links(pl_edit* edit, uint32_t cluster, const pl_edit_link* links,
                            uint32_t count)
{
    pl_addition* to = NULL;
    for (size_t i = 0; i < edit->added_count; ++i)
        to = edit->added[i].cluster == cluster ? &edit->added[i] : to;
    if (!to || count == 0)
        return pl_fail(PLIANT_ERROR_INTERNAL, "Cluster %u cannot get %u links", cluster, count);
    if (!pl_grow((void**)&edit->links, &edit->link_capacity, edit->link_count + count,
                 sizeof *edit->links))
        return pl_fail_memory(count * sizeof *edit->links);
    memcpy(edit->links + edit->link_count, links, count * sizeof *links);
    to->link_begin = (uint32_t)edit->link_count;
    to->link_count = count;
    edit->link_count += count;
    return PLIANT_OK;
}

static bool is_dead(const pl_body* body, uint32_t fine)
{
    return fine < body->level_begin[1] && !(body->clusters.fade[fine] > 0);
}

typedef struct link_list
{
    pl_link_copy* items;
    uint32_t count, first; /* "first" of the coarse cluster at hand */
} link_list;

static void add_link(link_list* list, uint32_t fine, uint32_t coarse, uint32_t from)
{
    uint32_t at = list->count++;
    for (; at > list->first && list->items[at - 1].fine > fine; --at)
        list->items[at] = list->items[at - 1];
    list->items[at] = (pl_link_copy){fine, coarse, from};
}

static void list_links(const pl_edit* edit, link_list* list)
{
    const pl_body* body = edit->body;
    const pl_links* links = &body->links;
    for (uint32_t c = 0; c < body->clusters.count; ++c)
    {
        list->first = list->count;
        for (uint32_t i = links->by_coarse_begin[c]; i < links->by_coarse_begin[c + 1]; ++i)
            if (!is_dead(body, links->fine[i]))
                add_link(list, links->fine[i], c, i);
        for (size_t n = 0; n < edit->added_count && c >= body->level_begin[1]; ++n)
        {
            const pl_addition* added = &edit->added[n];
            if (is_dead(body, added->cluster))
                continue;
            for (uint32_t i = 0; i < added->link_count; ++i)
                if (edit->links[added->link_begin + i].coarse == c - body->level_begin[1])
                    add_link(list, added->cluster, c, links->count + added->link_begin + i);
            for (uint32_t i = links->by_fine_begin[added->like];
                 i < links->by_fine_begin[added->like + 1] && !added->link_count; ++i)
                if (links->coarse[links->by_fine[i]] == c)
                    add_link(list, added->cluster, c, links->by_fine[i]);
        }
    }
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

static void copy_link(const pl_links* old, const pl_edit_link* more, const pl_link_copy* copy,
                      pl_links* fresh, uint32_t i)
{
    fresh->fine[i] = copy->fine;
    fresh->coarse[i] = copy->coarse;
    if (copy->from < old->count)
    {
        fresh->u[i] = old->u[copy->from];
        memcpy(fresh->b[i], old->b[copy->from], sizeof *fresh->b);
        memcpy(fresh->q[i], old->q[copy->from], sizeof *fresh->q);
        return;
    }
    const pl_edit_link* link = &more[copy->from - old->count];
    fresh->u[i] = fresh->q[i][3] = link->u;
    memcpy(fresh->b[i], link->b, sizeof *fresh->b);
    memcpy(fresh->q[i], link->q, sizeof link->q);
}

pl_status pl_links_build(pl_body* body, const pl_link_copy* list, uint32_t count,
                         const pl_edit_link* more)
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
        pl_link_items_free(&fresh);
        return pl_fail_memory((size_t)count * 80);
    }
    memset(old->by_coarse_begin, 0, sizeof(uint32_t) * ((size_t)clusters + 1));
    for (uint32_t i = 0; i < count; ++i)
    {
        copy_link(old, more, &list[i], &fresh, i);
        ++old->by_coarse_begin[list[i].coarse + 1];
    }
    for (uint32_t c = 0; c < clusters; ++c)
        old->by_coarse_begin[c + 1] += old->by_coarse_begin[c];
    pl_link_items_free(old);
    old->count = count;
    old->fine = fresh.fine, old->coarse = fresh.coarse, old->u = fresh.u;
    old->b = fresh.b, old->q = fresh.q, old->by_fine = fresh.by_fine;
    sort_by_fine(old, clusters);
    for (uint32_t l = 1; l < body->level_count; ++l)
        body->level_memberships[l] = old->by_coarse_begin[body->level_begin[l + 1]] -
                                     old->by_coarse_begin[body->level_begin[l]];
    pl_level_batches_free(&old->batches);
    return PLIANT_OK;
}

pl_status pl_edit_relink(pl_edit* edit)
{
    pl_body* body = edit->body;
    if (!has_work(edit))
        return PLIANT_OK;
    size_t room = body->links.count;
    for (size_t n = 0; n < edit->added_count; ++n)
    {
        const uint32_t* begin = body->links.by_fine_begin + edit->added[n].like;
        room += edit->added[n].link_count ? edit->added[n].link_count : begin[1] - begin[0];
    }
    link_list list = {.items = PL_NEW(pl_link_copy, room)};
    if (!list.items)
        return pl_fail_memory(room * sizeof *list.items);
    list_links(edit, &list);
    pl_status status = pl_links_build(body, list.items, list.count, edit->links);
    if (status == PLIANT_OK && edit->link_count)
        body->links.plain = false;
    pl_free(list.items);
    return status;
}
