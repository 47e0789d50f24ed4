# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes a mesh from the cut triangles: whole polygons where nothing was cut, and all layers.

Vertex order: those of the old mesh first, then new ones. Face order: whole old faces, parts of cut
faces, crack faces.
"""

import numpy as np

from . import graph, point_grid
from .datatypes import Broken, Surface
from .cut import Triangles
from .slivers import LARGEST
from .layers import Layers, Part


def assemble(surface, split, pieces, sheets, cells, part, partings, spacing, look):
    """A Broken without its binding. `split`: the surface's Triangles; `part`: component of each
    copy."""
    snap(pieces, cells.step)
    outside, within = np.flatnonzero(~pieces.inside), np.flatnonzero(pieces.inside)
    source = old_corners(surface, split, pieces, outside)
    origin = np.full(len(pieces.vertices), -1)
    known = source >= 0
    origin[pieces.triangles[outside][known]] = source[known]
    pieces.vertices[origin >= 0] = surface.vertices[origin[origin >= 0]]
    origin = renumber(pieces, origin, len(surface.vertices))

    whole, whole_corners = whole_faces(surface, split, pieces, outside, source)
    cut_out = outside[~whole[split.face[pieces.source[outside]]]]
    crack = Surface(sheets.vertices + sheets.back, np.arange(len(sheets.quads) + 1) * 4, sheets.quads.ravel())
    crack_split = Triangles(
        np.arange(4 * len(sheets.quads)).reshape(-1, 4)[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3),
        np.repeat(np.arange(len(sheets.quads)), 2),
    )
    square, square_corners = whole_faces(
        crack, crack_split, pieces, within, old_corners(crack, crack_split, pieces, within)
    )
    cut_in = within[~square[pieces.source[within] // 2]]
    outer = Part(np.flatnonzero(whole), np.diff(surface.face_start)[whole], whole_corners, cut_out, pieces)
    inner = Part(np.flatnonzero(square), np.full(square.sum(), 4), square_corners, cut_in, pieces)
    layers = Layers(surface, split, pieces, origin, look)
    result = layers.surface(outer, inner)

    inside = np.repeat([False, True], [len(outer.sizes), len(inner.sizes)])
    source_face = np.where(inside, -1, 0)
    source_face[~inside] = np.concatenate([outer.faces, split.face[pieces.source[cut_out]]])
    copy, moved = sides(pieces, layers.edges, within, sheets, cells, part, partings.particles.rest, spacing)
    piece, first = part[copy], result.corners[result.face_start[:-1]]
    one, two, parted = opposite(pieces, within, sheets, cells.step)
    # what stays with another copy than its cell's parts when that does
    other = moved[one] | moved[two]
    apart = copy[one] != copy[two]
    parted[other & ~apart] = np.inf
    parted[other & apart] = partings.times(copy[one][other & apart], copy[two][other & apart])
    birth = np.full(len(pieces.vertices), np.inf)
    np.minimum.at(birth, pieces.triangles[within].ravel(), np.repeat(sheets.birth[pieces.source[within] // 2], 3))
    late = np.unique(np.concatenate([one[other], two[other]]))
    birth[late] = np.inf
    np.minimum.at(birth, np.concatenate([one, two]), np.concatenate([parted, parted]))
    face_birth = np.full(len(inside), np.inf)
    face_birth[inside] = sheets.birth[np.concatenate([inner.faces, pieces.source[cut_in] // 2])]
    corner = np.full(len(birth), -np.inf)
    corner[late] = birth[late]
    corner = np.where(np.repeat(inside, np.diff(result.face_start)), corner[result.corners], -np.inf)
    face_birth = np.maximum(face_birth, np.maximum.reduceat(corner, result.face_start[:-1]))
    return Broken(
        result,
        inside,
        piece[first],
        piece,
        face_birth,
        birth,
        copy,
        origin,
        source_face,
        layers.on_edges(cut_out),
        (one, two, parted),
    )


def opposite(pieces, within, sheets, step):
    """Vertices on the two sides of each crack face, and when it opened."""
    vertex = pieces.triangles[within].ravel()
    quad = np.repeat(pieces.source[within] // 2, 3)
    used, local = np.unique(vertex, return_inverse=True)
    place = graph.same_places(pieces.vertices[used], 1e-6 * step)[local]
    side, sheet = quad // sheets.cracks, quad % sheets.cracks
    key = (sheet * (place.max(initial=0) + 1) + place) * 2 + side
    key, first = np.unique(key, return_index=True)
    both = np.flatnonzero((key[1:] == key[:-1] + 1) & (key[:-1] % 2 == 0))
    one, two = first[both], first[both + 1]
    return vertex[one], vertex[two], sheets.birth[quad[one]]


def renumber(pieces, origin, old):
    """Sorts the vertices, old ones first in their order; returns the old index of each, or -1."""
    order = np.lexsort((np.arange(len(origin)), np.where(origin >= 0, origin, old)))
    number = np.empty_like(order)
    number[order] = np.arange(len(order))
    pieces.vertices = pieces.vertices[order]
    pieces.triangles = number[pieces.triangles]
    return origin[order]


def snap(pieces, step):
    """Makes both sides of a crack coincide, to the bit."""
    on_crack = np.unique(pieces.triangles[pieces.inside])
    place = graph.same_places(pieces.vertices[on_crack], 1e-6 * step)
    _, first = np.unique(place, return_index=True)
    pieces.vertices[on_crack] = pieces.vertices[on_crack[first[place]]]


def old_corners(surface, split, pieces, chosen):
    """For each corner of some triangles the coincident vertex of the source triangle, or -1."""
    vertex = surface.corners[split.corner[pieces.source[chosen]]]
    corner = pieces.vertices[pieces.triangles[chosen]]
    squared = ((corner[:, :, None, :] - surface.vertices[vertex][:, None, :, :]) ** 2).sum(3)
    size = np.ptp(surface.vertices, axis=0).max()
    return np.where(squared.min(2) <= (1e-9 * size) ** 2, np.take_along_axis(vertex, squared.argmin(2), 1), -1)


def whole_faces(surface, split, pieces, chosen, source):
    """Which faces are uncut, and the new vertices of all their corners in a row."""
    triangle = pieces.source[chosen]
    times = np.bincount(triangle, minlength=len(split.face))
    want = surface.corners[split.corner[triangle]]
    match = source[:, None, :] == want[:, :, None]  # the old corner k is at the new corner m
    intact = (times[triangle] == 1) & match.any(2).all(1)
    faces = len(surface.face_start) - 1
    whole = np.bincount(split.face[triangle[intact]], minlength=faces) == np.bincount(split.face, minlength=faces)
    vertex = np.full(len(surface.corners), -1)
    use = intact & whole[split.face[triangle]]
    at = np.take_along_axis(pieces.triangles[chosen][use], match[use].argmax(2), 1)
    vertex[split.corner[triangle[use]]] = at
    return whole, vertex[np.repeat(whole, np.diff(surface.face_start))]


def sides(pieces, edges, within, sheets, cells, part, rest, spacing):
    """The copy in whose cell each vertex is, and whether it was assigned by adopted().

    On a crack the sheet determines the copy. Near one, the connected crack vertices do: by the grid
    a vertex may be in a cell of the other side, since sheets were moved.
    """
    count = len(pieces.vertices)
    body = graph.components(count, edges[:, 0], edges[:, 1])
    copy = cells.copy_at(pieces.vertices)
    owner = sheets.copy[pieces.source[within] // 2]
    at = pieces.triangles[within].ravel()
    piece_of_body = most_common(body, part[copy], part.max() + 1)
    if len(within):
        on_body, voted = most_common(body[at], part[np.repeat(owner, 3)], part.max() + 1, True)
        piece_of_body[on_body] = voted
    # the lowest copy of a crack vertex's faces that is of its piece
    held = part[np.repeat(owner, 3)] == piece_of_body[body[at]]
    least = np.full(count, np.iinfo(np.int64).max)
    np.minimum.at(least, at[held], np.repeat(owner, 3)[held])
    on_crack = least < np.iinfo(np.int64).max
    copy[on_crack] = least[on_crack]
    near = graph.nearest_source(pieces.vertices, edges, np.flatnonzero(on_crack), 0.8 * spacing)
    follow = (near >= 0) & ~on_crack
    copy[follow] = copy[near[follow]]
    piece = piece_of_body[body]
    lost = np.flatnonzero(part[copy] != piece)  # a sheet has moved across them
    for k in np.unique(piece[lost]):
        those, own = lost[piece[lost] == k], np.flatnonzero(part == k)
        copy[those] = own[point_grid.nearest(pieces.vertices[those], rest[own])]
    given = adopted(pieces, within, sheets, body, piece_of_body, spacing)[body]
    copy[given >= 0] = given[given >= 0]
    return copy, given >= 0


def adopted(pieces, within, sheets, body, piece_of_body, spacing):
    """For each connected part of the mesh the copy that all of it follows, or -1.

    Splinters that are not the largest part of their piece are connected to it outside of the body
    only, or not at all: they follow the part that they share the largest crack area with.
    """
    a, b, c = (pieces.vertices[pieces.triangles[:, k]] for k in range(3))
    count = body.max(initial=-1) + 1
    volume = np.bincount(body[pieces.triangles[:, 0]], (a * np.cross(b, c)).sum(1) / 6, count)
    order = np.lexsort((-volume, piece_of_body))
    small = volume < LARGEST * spacing**3
    small[order[np.r_[True, piece_of_body[order][1:] != piece_of_body[order][:-1]]]] = False
    given = np.full(count, -1)
    quad = pieces.source[within] // 2
    across = np.where(quad < sheets.cracks, quad + sheets.cracks, quad - sheets.cracks)
    there = np.full(2 * sheets.cracks, -1)
    there[quad] = body[pieces.triangles[within, 0]]
    area = np.sqrt((np.cross(b - a, c - a)[within] ** 2).sum(1))
    use = small[there[quad]] & (there[across] >= 0) & ~small[there[across]]
    mine, other = there[quad[use]], sheets.copy[across[use]]
    key, at = np.unique(mine * (sheets.copy.max() + 1) + other, return_inverse=True)
    met = np.bincount(at, area[use])
    mine, other = key // (sheets.copy.max() + 1), key % (sheets.copy.max() + 1)
    order = np.lexsort((other, -met, mine))
    first = np.r_[True, mine[order][1:] != mine[order][:-1]] if len(mine) else np.zeros(0, bool)
    given[mine[order][first]] = other[order][first]
    return given


def most_common(group, value, values, with_groups=False):
    """The most frequent value of each group (the lowest of equals); for all groups from 0, or with
    the list of existing groups."""
    key, number = np.unique(group * values + value, return_counts=True)
    order = np.lexsort((key, -number, key // values))
    group_of = key[order] // values
    first = np.r_[True, group_of[1:] != group_of[:-1]]
    chosen = key[order][first] % values
    return (group_of[first], chosen) if with_groups else chosen
