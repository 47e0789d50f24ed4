# SPDX-License-Identifier: GPL-3.0-or-later
"""Sets up the scene of a command: the file, roles, presets and settings of the arguments.

They are set on the data in memory; the .blend file on disk is not changed unless --save names it.
"""

import contextlib
import difflib
import os
import shutil
import tempfile

import bpy

from ..blender.settings import weld_problem
from ..blender import folders, handlers, presets, roles
from . import failures
from .failures import Failure

BODY_GROUPS = ("material", "clusters", "particles", "start", "paint", "fracture", "contacts")
STIFFNESS = {"FREQUENCY": "frequency", "YOUNG": "young", "ALPHA": "alpha"}
TRUE, FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off"}


def open_scene(options):
    """The scene that the arguments name, in its file."""
    if options.blend is not None:
        _open(options.blend, options.scripts)
    elif not bpy.data.filepath:
        raise Failure(failures.USAGE, "No .blend file is open: name one with --blend FILE.")
    scene = bpy.context.scene
    if options.scene is not None:
        scene = bpy.data.scenes.get(options.scene)
        if scene is None:
            raise Failure(failures.FILE, f"There is no scene '{options.scene}'{_like(options.scene, bpy.data.scenes)}")
        if bpy.context.window is not None:
            bpy.context.window.scene = scene
    options.folder = scene.pliant.folder  # the folder that the file has, for save()
    if options.command == "cluster":
        return scene  # without effect on a bake
    if options.allow_outside:
        folders.allow(scene)
    if options.out is not None:
        scene.pliant.folder = str(options.out.absolute())
    elif getattr(options, "save", None) is not None:
        # the bake belongs to the saved file
        path = str(options.save.absolute())
        is_outside = not options.allow_outside and folders.is_outside(scene, path)
        with folders.not_typed():
            scene.pliant.folder = str(folders.folder_in(path, scene))
        if not is_outside:
            folders.allow(scene)
    return scene


def _open(path, scripts):
    path = path.absolute()
    if not path.is_file():
        raise Failure(failures.FILE, f"There is no file {path}.")
    try:
        bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=False, use_scripts=scripts)
    except RuntimeError as error:
        raise Failure(failures.FILE, f"Blender cannot open {path}: {_report(error)}") from None


def _report(error):
    """Blender's message in an operator's exception."""
    lines = [line.removeprefix("Error: ").strip() for line in str(error).splitlines()]
    return " ".join(line for line in lines if line and not line.startswith("Location:"))


def save(options, scene, log):
    """Saves the file as --save says."""
    if options.save is None:
        return
    path = options.save.absolute()
    with folders.not_typed():
        scene.pliant.folder = options.folder
        if options.out is not None and options.command != "cluster":
            scene.pliant.folder = _seen_from(path, options.out.absolute())
    # the command's own bake must not be replaced by an earlier one in the target folder
    own = (
        []
        if options.command == "cluster"
        else [folders.folder_in(str(path), scene, getattr(options, "quick", None) is not None)]
    )
    if options.command == "clear":
        own.append(folders.folder_in(str(path), scene, True))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with handlers.kept(*own), _versions_kept(path):
            bpy.ops.wm.save_as_mainfile(filepath=str(path), check_existing=False, relative_remap=True)
    except (RuntimeError, OSError) as error:
        raise Failure(failures.DISK, f"{path} could not be saved: {_report(error)}") from None
    if not path.is_file():
        raise Failure(failures.DISK, f"{path} could not be saved.")
    _check_saved(path, scene)
    log.saved(path)
    if handlers.problems:
        raise Failure(failures.DISK, " ".join(handlers.problems))


@contextlib.contextmanager
def _versions_kept(path):
    """Keeps as many earlier versions of the file as the preferences say. Blender would rename the file
    to its first version before the new one takes its place: if that fails there is no file of that name."""
    filepaths = bpy.context.preferences.filepaths
    count = filepaths.save_version
    if count and path.is_file():
        for i in range(count, 1, -1):
            if os.path.isfile(f"{path}{i - 1}"):
                os.replace(f"{path}{i - 1}", f"{path}{i}")
        temporary = f"{path}1.tmp"
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        try:
            os.link(path.resolve(), temporary)
        except OSError:  # a file system without hard links
            shutil.copy2(path, temporary)
        os.replace(temporary, f"{path}1")
    try:
        filepaths.save_version = 0
        yield
    finally:
        filepaths.save_version = count


def _check_saved(path, scene):
    """Raises a Failure if the file cannot be read again: Blender does not notice every disk error."""
    try:
        with tempfile.TemporaryDirectory(prefix="pliant-") as place:  # a file does not load itself
            copied = shutil.copyfile(path, os.path.join(place, "saved.blend"))
            with bpy.data.libraries.load(copied) as (there, _):
                is_whole = scene.name in there.scenes
    except (OSError, RuntimeError):
        is_whole = False
    if not is_whole:
        raise Failure(
            failures.DISK,
            f"{path} is not what was written to it: the disk may be faulty. What "
            f"was there before is in {path}1, if Blender keeps versions.",
        )


def _seen_from(blend, folder):
    """A folder as it is stored in a .blend file: relative if both are on one drive."""
    try:
        return bpy.path.relpath(str(folder), start=str(blend.parent))
    except ValueError:
        return str(folder)


# ---------------------------------------------------------------- roles, presets, frames


def apply(options, scene):
    """Applies roles, preset, settings, frames and threads of the arguments."""
    _give_roles(scene, "BODY", options.objects)
    _give_roles(scene, "COLLIDER", options.colliders)
    if options.preset is not None:
        name = _chosen(options.preset, presets.TABLE)
        if name is None:
            raise Failure(
                failures.USAGE, f"There is no material '{options.preset}': there are {', '.join(presets.TABLE)}."
            )
        for obj in _with_role(scene, "BODY"):
            presets.apply(obj, name)
    for text in options.settings:
        _set(scene, text)
    for text in options.welds:
        _weld(scene, text)
    if options.frames is not None:
        scene.pliant.use_scene_frames = False
        scene.pliant.frame_start, scene.pliant.frame_end = options.frames
    if options.threads is not None:
        scene.pliant.threads = min(options.threads, 1024)


def find_object(scene, name):
    obj = scene.objects.get(name)
    if obj is None:
        raise Failure(
            failures.FILE, f"There is no object '{name}' in the scene '{scene.name}'{_like(name, scene.objects)}"
        )
    return obj


def _like(name, collection):
    near = difflib.get_close_matches(name, [item.name for item in collection], 1)
    return f"; did you mean '{near[0]}'?" if near else "."


def _with_role(scene, role):
    return [obj for obj in scene.objects if obj.pliant.role == role]


def _give_roles(scene, role, names):
    """Sets a role on exactly these objects."""
    if names is None:
        return
    objects = [find_object(scene, name) for name in names]
    for obj in objects:
        problem = roles.problem_of(obj, role)
        if problem:
            raise Failure(failures.SCENE, problem + ".")
    bpy.context.view_layer.update()  # updates sizes
    for obj in _with_role(scene, role):
        if obj not in objects:
            obj.pliant.role = "NONE"
    for obj in objects:
        obj.pliant.role = role


def _weld(scene, text):
    """One --weld: OBJECT:OTHER[=PASCALS]. Replaces the file's weld of the two."""
    names, equals, strength = text.partition("=")
    first, colon, second = names.partition(":")
    if not colon:
        raise Failure(failures.USAGE, f"--weld {text}: two objects are given as OBJECT:OTHER.")
    obj, other = (find_object(scene, name.strip()) for name in (first, second))
    problem = weld_problem(obj, other)
    if problem is None and obj.pliant.role == "NONE":
        problem = "is neither a soft body nor a collider"
    if problem is not None:
        raise Failure(failures.SCENE, f"--weld {text}: '{obj.name}' {problem}.")
    for one, to in ((obj, other), (other, obj)):
        for index in reversed(range(len(one.pliant.welds))):
            if one.pliant.welds[index].object == to:
                one.pliant.welds.remove(index)
    weld = obj.pliant.welds.add()
    weld.object = other
    if equals:
        try:
            weld.strength = read_value(weld.bl_rna.properties["strength"], strength.strip())
        except ValueError as error:
            raise Failure(failures.USAGE, f"--weld {text}: {error}.") from None


def _chosen(text, names):
    """The matching name, ignoring case, or None."""
    return next((name for name in names if name.lower() == text.strip().lower()), None)


# ---------------------------------------------------------------- --set


def _set(scene, text):
    """One --set: [OBJECT:]GROUP.NAME=VALUE."""
    path, equals, value = text.partition("=")
    if not equals:
        raise Failure(failures.USAGE, f"--set {text}: a setting is given as NAME=VALUE.")
    owner, _, path = path.strip().rpartition(":")
    group, _, name = path.rpartition(".")
    if group == "scene":
        _assign(scene.pliant, name, value, text)
        return
    if group not in (*BODY_GROUPS, "collider"):
        raise Failure(
            failures.USAGE,
            f"--set {text}: there is no '{path}'; settings are of {', '.join(BODY_GROUPS)}, collider or scene.",
        )
    role = "COLLIDER" if group == "collider" else "BODY"
    objects = [find_object(scene, owner)] if owner else _with_role(scene, role)
    if not objects:
        raise Failure(
            failures.SCENE, f"--set {text}: there is no {'collider' if group == 'collider' else 'soft body'}."
        )
    for obj in objects:
        settings = getattr(obj.pliant, group)
        wanted = name
        if group == "material" and name == "stiffness":
            wanted = STIFFNESS[settings.stiffness_kind]
        _assign(settings, wanted, value, text)


def _assign(settings, name, value, text):
    prop = settings.bl_rna.properties.get(name)
    if prop is None or prop.is_readonly or name in ("rna_type", "name"):
        known = [
            p.identifier
            for p in settings.bl_rna.properties
            if not p.is_readonly and p.identifier not in ("rna_type", "name")
        ]
        near = difflib.get_close_matches(name, known, 1)
        hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(known)}."
        raise Failure(failures.USAGE, f"--set {text}: there is no setting '{name}'; {hint}")
    try:
        setattr(settings, name, read_value(prop, value.strip()))
    except ValueError as error:
        raise Failure(failures.USAGE, f"--set {text}: {error}.") from None


def read_value(prop, text):
    """A property's value from text; a ValueError names what is wrong."""
    if prop.type == "BOOLEAN" and prop.is_array:
        return _switches(prop, text)
    if prop.type == "BOOLEAN":
        if text.lower() not in TRUE | FALSE:
            raise ValueError(f"'{text}' is neither true nor false")
        return text.lower() in TRUE
    if prop.type == "ENUM":
        for item in prop.enum_items:
            if text.lower() in (item.identifier.lower(), item.name.lower()):
                return item.identifier
        raise ValueError(f"'{text}' is none of {', '.join(item.identifier for item in prop.enum_items)}")
    if prop.type == "POINTER":
        return _data_block(prop, text)
    if prop.type not in ("INT", "FLOAT"):
        return text
    if not prop.is_array:
        return _number(prop, text)
    values = [_number(prop, part) for part in text.split(",")]
    if len(values) > prop.array_length:
        raise ValueError(f"{len(values)} numbers, but there are {prop.array_length}")
    return values + list(prop.default_array)[len(values) :]


def _data_block(prop, text):
    """A material or an object by its name; empty text: none."""
    known = {"Material": bpy.data.materials, "Object": bpy.data.objects}.get(prop.fixed_type.identifier, {})
    if text and text not in known:
        raise ValueError(f"there is no {prop.fixed_type.name.lower()} '{text}'")
    return known[text] if text else None


def _switches(prop, text):
    """1,3: the first and the third are on; empty text: none."""
    count = prop.array_length
    numbers = [part.strip() for part in text.split(",") if part.strip()]
    for part in numbers:
        if not part.isdecimal() or not 1 <= int(part) <= count:
            raise ValueError(f"'{part}' is not a whole number from 1 to {count}")
    return [str(index + 1) in numbers for index in range(count)]


def _number(prop, text):
    try:
        value = int(text) if prop.type == "INT" else float(text)
    except ValueError:
        raise ValueError(f"'{text}' is not a {'whole ' if prop.type == 'INT' else ''}number") from None
    if not prop.hard_min <= value <= prop.hard_max:
        raise ValueError(f"{text} is outside of {prop.hard_min:g} to {prop.hard_max:g}")
    return value
