// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Pieces: connected components of the graph of finest clusters that share particles. The graph is
 * stored as one count of shared particles for each pair, updated with every membership that a split
 * changes; an edge is removed when its count reaches 0.
 *
 * After edges were removed, breadth-first searches start at all clusters that lost one. They visit
 * one cluster each in turn, and searches that meet are merged:
 *
 *      o-o-o-o-o   x   o-o      each detached component contains a cluster that lost an edge; the
 *      | |  search |   |s|      search ends when all components but one are complete, so the cost
 *      o-o-o-o-<   x   >-o      is that of the smaller components, not of the whole piece
 */
#include "body/validity.h"
#include "fracture/fracture_internal.h"

#include <string.h>

/* ------------------------------------------------------------------ shares */

/* Lower bound of a cluster in a sorted share list. "last" is a cached guess. */
static uint32_t find_share(const pl_shares* shares, uint32_t cluster, uint32_t last)
{
    uint32_t low = 0, high = shares->count;
    if (last < high && shares->items[last].cluster == cluster)
        return last;
    while (low < high)
    {
        uint32_t middle = (low + high) / 2;
        if (shares->items[middle].cluster < cluster)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Adds "by" to the count of particles that two clusters share, in the list of the first. *gone: the
 * count is 0 now and the edge was removed. */
static bool change_share(pl_fracture* f, uint32_t cluster, uint32_t other, int by,
                         pl_share_places* places, bool* gone)
{
    pl_shares* shares = &f->shares[cluster];
    uint32_t* last = &places->at[(7 * cluster + other) % PL_COUNTOF(places->at)];
    uint32_t at = *last = find_share(shares, other, *last);
    bool there = at < shares->count && shares->items[at].cluster == other;
    *gone = false;
    if (!there)
    {
        if (!pl_grow((void**)&shares->items, &shares->capacity, (size_t)shares->count + 1,
                     sizeof *shares->items))
            return false;
        memmove(shares->items + at + 1, shares->items + at,
                (shares->count - at) * sizeof *shares->items);
        shares->items[at] = (pl_share){other, 0};
        ++shares->count;
    }
    shares->items[at].count += (uint32_t)by;
    if (shares->items[at].count)
        return true;
    *gone = true;
    --shares->count;
    memmove(shares->items + at, shares->items + at + 1,
            (shares->count - at) * sizeof *shares->items);
    return true;
}

static bool need_shares(pl_fracture* f, uint32_t clusters)
{
    if (clusters <= f->share_count)
        return true;
    pl_shares* grown = pl_realloc(f->shares, clusters, sizeof *grown);
    if (!grown)
        return false;
    f->shares = grown;
    f->share_count = clusters;
    return true;
}

bool pl_pieces_lose(pl_breaking* b, uint32_t cluster)
{
    for (size_t i = 0; i < b->lost_count; ++i)
        if (b->lost[i] == cluster)
            return true;
    if (!pl_grow((void**)&b->lost, &b->lost_capacity, b->lost_count + 1, sizeof *b->lost))
        return false;
    b->lost[b->lost_count++] = cluster;
    /* lost is reset for each change, parted collects over the whole substep */
    if (!pl_grow((void**)&b->parted, &b->parted_capacity, b->body->level_begin[1], 1))
        return false;
    b->parted[cluster] = 1;
    return true;
}

/* Sets a bit for each element of a list that is also in another; both are sorted. */
static void mark(uint8_t* marks, uint8_t bit, pl_list_of list, pl_list_of other)
{
    for (uint32_t i = 0, at = 0; i < list.count && at < other.count;)
    {
        uint32_t c = list.members[i].cluster, d = other.members[at].cluster;
        if (c == d)
            marks[i] |= bit;
        i += c <= d;
        at += d <= c;
    }
}

/* Adds "by" to the counts of the pairs of a list that are in neither of two other lists. */
static bool change_pairs(pl_breaking* b, pl_list_of list, pl_list_of first, pl_list_of second,
                         int by)
{
    if (list.count < 2)
        return true;
    if (!pl_grow((void**)&b->marks, &b->mark_capacity, list.count, 1))
        return false;
    memset(b->marks, 0, list.count);
    mark(b->marks, 1, list, first);
    mark(b->marks, 2, list, second);
    for (uint32_t i = 0; i < list.count; ++i)
        for (uint32_t j = i + 1; j < list.count; ++j)
        {
            uint32_t c = list.members[i].cluster, other = list.members[j].cluster;
            bool gone;
            if (b->marks[i] & b->marks[j])
                continue;
            if (!change_share(b->fracture, c, other, by, &b->places, &gone) ||
                !change_share(b->fracture, other, c, by, &b->places, &gone) ||
                (gone && (!pl_pieces_lose(b, c) || !pl_pieces_lose(b, other))))
                return false;
        }
    return true;
}

bool pl_shares_change(pl_breaking* b, pl_list_of before, pl_list_of kept, pl_list_of moved)
{
    const pl_list_of none = {NULL, 0};
    return need_shares(b->fracture, b->body->level_begin[1]) &&
           change_pairs(b, kept, before, none, 1) && change_pairs(b, moved, before, none, 1) &&
           change_pairs(b, before, kept, moved, -1);
}

bool pl_shares_undo(pl_breaking* b, pl_list_of before, pl_list_of kept, pl_list_of moved)
{
    const pl_list_of none = {NULL, 0};
    return change_pairs(b, before, kept, moved, 1) && change_pairs(b, kept, before, none, -1) &&
           change_pairs(b, moved, before, none, -1);
}

/* ------------------------------------------------------------------ the whole graph */

static bool is_alive(const pl_body* body, uint32_t c)
{
    return body->clusters.part_begin[c] < body->clusters.part_begin[c + 1];
}

static void clear_shares(pl_fracture* f)
{
    for (uint32_t c = 0; c < f->share_count; ++c)
        f->shares[c].count = 0;
}

/* Counts the pairs of clusters of the particle in a lane of a block. */
static bool add_lane(pl_fracture* f, const pl_chunk* chunk, uint32_t block, uint32_t lane,
                     pl_share_places* places)
{
    bool gone;
    for (uint32_t e = chunk->block_begin[block]; e < chunk->block_begin[block + 1]; ++e)
        for (uint32_t o = chunk->block_begin[block]; o < chunk->block_begin[block + 1]; ++o)
            if (o != e && chunk->entry_kernel[8 * (size_t)e + lane] > 0 &&
                chunk->entry_kernel[8 * (size_t)o + lane] > 0 &&
                !change_share(f, chunk->rows[chunk->entry_row[e]], chunk->rows[chunk->entry_row[o]],
                              1, places, &gone))
                return false;
    return true;
}

static pl_status count_shares(pl_body* body)
{
    pl_fracture* f = body->fracture;
    pl_share_places places = {0};
    if (!need_shares(f, body->level_begin[1]))
        return pl_fail_memory((size_t)body->level_begin[1] * sizeof *f->shares);
    clear_shares(f);
    for (uint32_t c = 0; c < body->chunk_count; ++c)
        for (uint32_t b = 0; b < body->chunks[c].block_count; ++b)
            for (uint32_t lane = 0; lane < 8; ++lane)
                if (!add_lane(f, &body->chunks[c], b, lane, &places))
                    return pl_fail_memory((size_t)body->level_begin[1] * 64);
    return PLIANT_OK;
}

static pl_status add_piece(pl_fracture* f, uint32_t parent, uint64_t substep, double moment,
                           uint32_t* piece)
{
    if (!pl_grow((void**)&f->pieces, &f->piece_capacity, (size_t)f->piece_count + 1,
                 sizeof *f->pieces))
        return pl_fail_memory(f->piece_count * sizeof *f->pieces);
    *piece = f->piece_count++;
    f->pieces[*piece] = (pl_piece){
        .parent = parent == UINT32_MAX ? *piece : parent, .birth = substep, .moment = moment};
    return PLIANT_OK;
}

/* Breadth-first search within the piece of "from": marks and lists the clusters reached. "list" has
 * room for all clusters. Returns their number. */
static uint32_t reach(const pl_body* body, uint32_t from, uint32_t mark, uint32_t* marks,
                      uint32_t* list)
{
    const pl_fracture* f = body->fracture;
    uint32_t count = 1;
    list[0] = from;
    marks[from] = mark;
    for (uint32_t n = 0; n < count; ++n)
        for (uint32_t i = 0; i < f->shares[list[n]].count; ++i)
        {
            uint32_t other = f->shares[list[n]].items[i].cluster;
            if (marks[other] || body->clusters.piece[other] != body->clusters.piece[from])
                continue;
            marks[other] = mark;
            list[count++] = other;
        }
    return count;
}

typedef struct component
{
    double mass;
    uint32_t piece;
} component;

/* Numbers all connected components. The heaviest component of each existing piece keeps its number;
 * without pieces every component becomes one. */
static pl_status number_components(pl_body* body, uint64_t substep, double moment, uint32_t* marks,
                                   uint32_t* list, component* parts)
{
    pl_fracture* f = body->fracture;
    pl_clusters* k = &body->clusters;
    uint32_t count = 0, known = f->piece_count;
    bool first = known == 0;
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
    {
        if (marks[c] || !is_alive(body, c))
            continue;
        component* part = &parts[count++];
        uint32_t size = reach(body, c, count, marks, list);
        part->piece = first ? UINT32_MAX : k->piece[c];
        for (uint32_t i = 0; i < size; ++i)
            part->mass += k->mass[list[i]];
    }
    for (uint32_t i = 0; i < count; ++i)
    {
        bool heaviest = !first;
        for (uint32_t j = 0; j < count && heaviest; ++j)
            heaviest = parts[j].piece != parts[i].piece || parts[j].mass < parts[i].mass ||
                       (parts[j].mass == parts[i].mass && j >= i);
        if (!heaviest)
            PL_TRY(add_piece(f, parts[i].piece, first ? 0 : substep, first ? 0 : moment,
                             &parts[i].piece));
    }
    for (uint32_t p = 0; p < f->piece_count; ++p)
        f->pieces[p].clusters = 0;
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
        if (marks[c])
        {
            k->piece[c] = parts[marks[c] - 1].piece;
            ++f->pieces[k->piece[c]].clusters;
        }
    return PLIANT_OK;
}

pl_status pl_pieces_ready(pl_body* body, uint64_t substep, double moment)
{
    pl_fracture* f = body->fracture;
    uint32_t clusters = body->level_begin[1];
    if (f->stamp == pl_stamp(body))
        return PLIANT_OK;
    PL_TRY(count_shares(body));
    uint32_t* marks = PL_NEW(uint32_t, clusters);
    uint32_t* list = PL_NEW(uint32_t, clusters);
    component* parts = PL_NEW(component, clusters);
    pl_status status = marks && list && parts
                           ? number_components(body, substep, moment, marks, list, parts)
                           : pl_fail_memory((size_t)clusters * 24);
    pl_free(marks);
    pl_free(list);
    pl_free(parts);
    if (status == PLIANT_OK)
        f->stamp = pl_stamp(body);
    return status;
}

uint32_t pl_pieces_now(const pl_body* body)
{
    uint32_t count = 0;
    for (uint32_t p = 0; body->fracture && p < body->fracture->piece_count; ++p)
        count += body->fracture->pieces[p].clusters > 0;
    return count;
}

/* ------------------------------------------------------------------ detached components */

/* A search: its finished and open clusters, as linked lists through "next". */
typedef struct search
{
    uint32_t into; /* the search it was merged into; its own number otherwise */
    uint32_t done, done_last, open, open_last; /* 1 + cluster, or 0 */
    uint32_t count;
} search;

typedef struct piece_search
{
    pl_breaking* b;
    search* searches;
    uint32_t *label, *next; /* by cluster: 1 + search; 1 + cluster */
    uint32_t unfinished;
} piece_search;

static uint32_t root_of(const piece_search* s, uint32_t i)
{
    while (s->searches[i].into != i)
        i = s->searches[i].into;
    return i;
}

static void append(piece_search* s, uint32_t* first, uint32_t* last, uint32_t from, uint32_t to)
{
    if (!from)
        return;
    if (*last)
        s->next[*last - 1] = from;
    else
        *first = from;
    *last = to;
}

static void open_cluster(piece_search* s, uint32_t seeker_index, uint32_t cluster)
{
    search* one = &s->searches[seeker_index];
    s->label[cluster] = seeker_index + 1;
    s->next[cluster] = 0;
    append(s, &one->open, &one->open_last, cluster + 1, cluster + 1);
}

static void join(piece_search* s, uint32_t into, uint32_t other)
{
    search *a = &s->searches[into], *c = &s->searches[other];
    append(s, &a->done, &a->done_last, c->done, c->done_last);
    append(s, &a->open, &a->open_last, c->open, c->open_last);
    a->count += c->count;
    c->into = into;
    --s->unfinished;
}

/* Visits one more cluster. */
static void advance(piece_search* s, uint32_t index)
{
    search* one = &s->searches[index];
    const pl_fracture* f = s->b->fracture;
    uint32_t c = one->open - 1;
    one->open = s->next[c];
    one->open_last = one->open ? one->open_last : 0;
    s->next[c] = 0;
    append(s, &one->done, &one->done_last, c + 1, c + 1);
    ++one->count;
    for (uint32_t i = 0; i < f->shares[c].count; ++i)
    {
        uint32_t other = f->shares[c].items[i].cluster;
        if (!s->label[other])
            open_cluster(s, index, other);
        else if (root_of(s, s->label[other] - 1) != index)
            join(s, index, root_of(s, s->label[other] - 1));
    }
    if (!one->open)
        --s->unfinished;
}

static void run_searches(piece_search* s, uint32_t count)
{
    s->unfinished = count;
    for (uint32_t i = 0; i < count; ++i)
    {
        s->searches[i].into = i;
        open_cluster(s, i, s->b->lost[i]);
    }
    while (s->unfinished > 1)
        for (uint32_t i = 0; i < count && s->unfinished > 1; ++i)
            if (s->searches[i].into == i && s->searches[i].open)
                advance(s, i);
}

/* Lists the completed components in b->found. */
static pl_status list_components(const piece_search* s, uint32_t count)
{
    pl_parts_found* found = &s->b->found;
    const pl_clusters* k = &s->b->body->clusters;
    found->count = 0;
    found->cluster_count = 0;
    for (uint32_t i = 0; i < count; ++i)
    {
        const search* one = &s->searches[i];
        if (one->into != i || one->open)
            continue;
        if (!pl_grow((void**)&found->parts, &found->part_capacity, (size_t)found->count + 2,
                     sizeof *found->parts) ||
            !pl_grow((void**)&found->clusters, &found->cluster_capacity,
                     found->cluster_count + one->count, sizeof *found->clusters))
            return pl_fail_memory((found->cluster_count + one->count) * 4);
        pl_part_found part = {.count = one->count, .first = (uint32_t)found->cluster_count};
        for (uint32_t c = one->done; c; c = s->next[c - 1])
        {
            found->clusters[found->cluster_count++] = c - 1;
            part.mass += k->mass[c - 1];
        }
        found->parts[found->count++] = part;
    }
    return PLIANT_OK;
}

/* Mass of the piece without the completed components. */
static double remaining_mass(const pl_breaking* b)
{
    const pl_clusters* k = &b->body->clusters;
    uint32_t piece = k->piece[b->lost[0]];
    double mass = 0;
    for (uint32_t c = 0; c < b->body->level_begin[1]; ++c)
        if (k->piece[c] == piece && k->fade[c] > 0)
            mass += k->mass[c];
    for (uint32_t i = 0; i < b->found.count; ++i)
        mass -= b->found.parts[i].mass;
    return mass;
}

pl_status pl_pieces_look(pl_breaking* b)
{
    uint32_t count = (uint32_t)b->lost_count, clusters = b->body->level_begin[1];
    pl_parts_found* found = &b->found;
    if (!pl_grow((void**)&b->label, &b->label_capacity, 2 * (size_t)clusters, sizeof *b->label) ||
        !pl_grow((void**)&found->parts, &found->part_capacity, 1, sizeof *found->parts))
        return pl_fail_memory((size_t)clusters * 8);
    found->count = 1;
    found->parts[0] = (pl_part_found){0};
    if (count < 2)
        return PLIANT_OK;
    piece_search s = {
        .b = b, .searches = PL_NEW(search, count), .label = b->label, .next = b->label + clusters};
    if (!s.searches)
        return pl_fail_memory(count * sizeof *s.searches);
    memset(s.label, 0, clusters * sizeof *s.label);
    run_searches(&s, count);
    pl_status status = list_components(&s, count);
    pl_free(s.searches);
    PL_TRY(status);
    if (s.unfinished == 0) /* the last one was completed as well: it becomes the remainder */
        --found->count;
    found->parts[found->count] = (pl_part_found){.mass = found->count ? remaining_mass(b) : 0};
    ++found->count;
    return PLIANT_OK;
}

/* Gives a component, or the remainder, a new number; component "stays" keeps the old one. */
static pl_status detach_component(pl_breaking* b, uint32_t index, uint32_t stays, uint32_t old)
{
    pl_fracture* f = b->fracture;
    pl_clusters* k = &b->body->clusters;
    const pl_parts_found* found = &b->found;
    const pl_part_found *part = &found->parts[index], *other = &found->parts[stays];
    uint32_t created = 0, count = part->count;
    PL_TRY(add_piece(f, old, b->substep, b->moment, &created));
    for (uint32_t i = 0; i < count; ++i)
        k->piece[found->clusters[part->first + i]] = created;
    if (count == 0) /* the remainder: all components before it have their numbers */
    {
        for (uint32_t i = 0; i < other->count; ++i)
            b->label[found->clusters[other->first + i]] = UINT32_MAX;
        for (uint32_t c = 0; c < b->body->level_begin[1]; ++c)
            if (k->piece[c] == old && k->fade[c] > 0 && b->label[c] != UINT32_MAX)
            {
                k->piece[c] = created;
                ++count;
            }
    }
    f->pieces[created].clusters = count;
    f->pieces[old].clusters -= count;
    return PLIANT_OK;
}

pl_status pl_pieces_part(pl_breaking* b)
{
    const pl_parts_found* found = &b->found;
    if (found->count < 2)
        return PLIANT_OK;
    uint32_t old = b->body->clusters.piece[b->lost[0]], heaviest = 0;
    for (uint32_t i = 1; i < found->count; ++i)
        if (found->parts[i].mass > found->parts[heaviest].mass)
            heaviest = i;
    for (uint32_t i = 0; i < found->count; ++i)
        if (i != heaviest)
            PL_TRY(detach_component(b, i, heaviest, old));
    return PLIANT_OK;
}
