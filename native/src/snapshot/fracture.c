// SPDX-License-Identifier: GPL-3.0-or-later
#include "snapshot/fracture.h"

_Static_assert(sizeof(pliant_fracture_desc) == 64 && sizeof(pl_piece) == 40 &&
                   sizeof(pl_split) == 56 && sizeof(pl_divided) == 12 &&
                   sizeof(pl_small_piece) == 64,
               "what is saved of fracture changed: raise STATE_VERSION and check pl_save_fracture");

static bool pieces_fit(const pl_body* body)
{
    const pl_fracture* f = body->fracture;
    if (f->piece_count == 0 || !f->pieces)
        return false;
    for (uint32_t p = 0; p < f->piece_count; ++p)
        if (f->pieces[p].parent > p || !isfinite(f->pieces[p].moment) ||
            !(f->pieces[p].quiet >= 0) || f->pieces[p].asleep > 1)
            return false;
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
        if (body->clusters.piece[c] >= f->piece_count)
            return false;
    return true;
}

static bool splits_fit(const pl_body* body)
{
    const pl_fracture* f = body->fracture;
    uint32_t ids = body->particles.id_count, before = 0;
    if ((f->split_count && !f->splits) || (f->divided_count && !f->divided))
        return false;
    for (size_t i = 0; i < f->split_count; ++i)
    {
        const pl_split* s = &f->splits[i];
        if (!isfinite(s->moment) || s->divided_end < before || s->divided_end > f->divided_count ||
            (i && s->substep < s[-1].substep) || !v3_finite(v3_from(s->point)) ||
            !v3_finite(v3_from(s->normal)) || !isfinite(s->reach))
            return false;
        before = s->divided_end;
    }
    for (size_t i = 0; i < f->divided_count; ++i)
        if (f->divided[i].particle >= ids || f->divided[i].copy >= ids || f->divided[i].toward > 1)
            return false;
    return before == f->divided_count;
}

static bool small_pieces_fit(const pl_body* body)
{
    const pl_fracture* f = body->fracture;
    if (f->small_piece_count && !f->small_pieces)
        return false;
    for (uint32_t i = 0; i < f->small_piece_count; ++i)
    {
        if (f->small_pieces[i].cluster >= body->level_begin[1])
            return false;
        for (int k = 0; k < 9; ++k)
            if (!isfinite(f->small_pieces[i].f[k]))
                return false;
        if (!v3_finite(v3_from(f->small_pieces[i].spin)) ||
            !v3_finite(v3_from(f->small_pieces[i].v)))
            return false;
    }
    return true;
}

static bool given_fit(const pl_fracture* f)
{
    if (f->given_count == 1 || f->given_count > PL_CELLS_MOST || (f->given_count && !f->given))
        return false;
    for (uint32_t i = 0; i < 3 * f->given_count; ++i)
        if (!isfinite(f->given[i]))
            return false;
    return true;
}

void pl_save_fracture(pl_archive* a, pl_body* body)
{
    bool has = body->fracture != NULL;
    pl_archive_tag(a, "FRAC");
    pl_archive_bool(a, &has);
    if (!has || pl_archive_failed(a))
        return;
    if (pl_archive_reading(a) && !(body->fracture = PL_NEW(pl_fracture, 1)))
    {
        a->status = pl_fail_memory(sizeof *body->fracture);
        return;
    }
    pl_fracture* f = body->fracture;
    uint64_t splits = f->split_count, divided = f->divided_count;
    pl_archive_bytes(a, &f->desc, sizeof f->desc);
    pl_archive_u32(a, &f->piece_count);
    pl_archive_u64(a, &splits);
    pl_archive_u64(a, &divided);
    pl_archive_u64(a, &f->updates_most);
    PL_ARCHIVE_ARRAY(a, f->pieces, f->piece_count);
    PL_ARCHIVE_ARRAY(a, f->splits, splits);
    PL_ARCHIVE_ARRAY(a, f->divided, divided);
    pl_archive_u32(a, &f->small_piece_count);
    PL_ARCHIVE_ARRAY(a, f->small_pieces, f->small_piece_count);
    pl_archive_u32(a, &f->given_count);
    PL_ARCHIVE_ARRAY(a, f->given, 3 * (uint64_t)f->given_count);
    if (!pl_archive_reading(a) || pl_archive_failed(a))
        return;
    f->piece_capacity = f->piece_count;
    f->split_count = f->split_capacity = (size_t)splits;
    f->divided_count = f->divided_capacity = (size_t)divided;
    f->small_piece_capacity = f->small_piece_count;
    pl_archive_require(a, pl_check_fracture(&f->desc) == PLIANT_OK, "the settings of fracture");
    pl_archive_require(a, pieces_fit(body), "the pieces of a body");
    pl_archive_require(a, splits_fit(body), "the splits of a body");
    pl_archive_require(a, small_pieces_fit(body), "the crumbs of a body");
    pl_archive_require(a, given_fit(f), "the points of a pattern");
}
