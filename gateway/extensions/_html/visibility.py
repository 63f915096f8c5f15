"""Which elements of a page its readers see, by the element, its style and what is around it.

Style sheets are not applied: what they hide, scripts often show again, as the tabs of a page.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final, TypeAlias

import tinycss2
from tinycss2 import color4

# Why an element is not seen: `removed`, with all in it, or a property that it may inherit and an
# element in it may set again. A layout without gaps sets `font-size: 0` around all of its text.
Hidden: TypeAlias = frozenset[str]
SHOWN: Final[Hidden] = frozenset()
REMOVED: Final[Hidden] = frozenset({"removed"})

# By HTML's own style sheet, and what browsers show instead of it.
_NEVER_SHOWN = frozenset(
    {"audio", "canvas", "datalist", "noembed", "noframes", "textarea", "video"}
)
_PAGE = frozenset({"html", "body"})  # scripts show what is hidden until they have run

# Starting values: the thousands of pixels by which pages move text out of sight.
_OFF_SCREEN_PX = -900.0
_UNSEEN_PX = 1.0
_UNSEEN_OPACITY = 0.05
# In pixels; of relative units a usual size.
_UNIT_PX = 10.0  # of other units
_UNITS = {
    "px": 1.0, "pt": 4 / 3, "pc": 16.0, "in": 96.0, "cm": 37.8, "mm": 3.78, "q": 0.945,
    "em": 16.0, "rem": 16.0, "ex": 8.0, "ch": 8.0, "vw": 10.0, "vh": 10.0, "%": 10.0,
}  # fmt: skip
_OFFSETS = (
    "left", "top", "right", "bottom", "text-indent", "margin", "margin-left", "margin-top",
    "inset", "inset-inline-start", "inset-block-start", "translate",
)  # fmt: skip
_SIZES = (
    "width", "height", "max-width", "max-height", "line-height",
    "inline-size", "block-size", "max-inline-size", "max-block-size",
)  # fmt: skip
# A box with one of these may be seen although its own width or height is zero.
_GROWTHS = (
    "flex", "flex-grow", "min-width", "min-height", "padding", "padding-top", "padding-bottom",
)  # fmt: skip
_OVERFLOWS = ("overflow", "overflow-x", "overflow-y")

_Declarations: TypeAlias = Mapping[str, list[Any]]


def visibility_of(tag: str, attributes: Mapping[str, str], around: Hidden) -> Hidden:
    """Why an element is hidden; empty if it is seen. around: of the element that it is in."""
    if "removed" in around or tag in _PAGE:
        return around
    if tag in _NEVER_SHOWN or _is_removed(tag, attributes):
        return REMOVED
    style = attributes.get("style")
    if style is None:
        return around
    sets = _effect(style)
    hidden = {name for name, hides in sets.items() if hides}
    return REMOVED if "removed" in hidden else (around - sets.keys()) | hidden


def _is_removed(tag: str, attributes: Mapping[str, str]) -> bool:
    """A text that is `hidden=until-found` is shown by a search in the page."""
    hidden = attributes.get("hidden")
    if hidden is not None and hidden.strip().lower() != "until-found":
        return True
    return "popover" in attributes or (tag == "dialog" and "open" not in attributes)


@lru_cache(maxsize=1_024)  # a page repeats few styles, and each takes 0.1 ms
def _effect(style: str) -> Mapping[str, bool]:
    """The properties that the style sets, and whether they hide; `removed` only if it is so."""
    found = _declarations(style)
    effect = {}
    if "visibility" in found and not _has(found, "visibility", "inherit"):
        effect["visibility"] = _has(found, "visibility", "hidden", "collapse")
    size = _font_size(found)
    if size is not None:
        effect["font-size"] = size <= _UNSEEN_PX
    if "color" in found:
        effect["color"] = _is_unseen_colour(found)
    if _removes(found):
        effect["removed"] = True
    return effect


def _declarations(style: str) -> _Declarations:
    """The values by property: the last one that is valid CSS, or the last important one."""
    found: dict[str, list[Any]] = {}
    important = set()
    for node in tinycss2.parse_declaration_list(style, skip_comments=True, skip_whitespace=True):
        if node.type == "declaration" and (node.important or node.lower_name not in important):
            value = [part for part in node.value if part.type not in ("whitespace", "comment")]
            found[node.lower_name] = value
            if node.important:
                important.add(node.lower_name)
    return found


def _removes(found: _Declarations) -> bool:
    opacity = next(iter(_numbers(found.get("opacity", []), percent=0.01)), 1.0)
    return (
        _has(found, "display", "none")
        or _has(found, "content-visibility", "hidden")
        or opacity < _UNSEEN_OPACITY
        or any(min(_pixels(found, name), default=0) <= _OFF_SCREEN_PX for name in _OFFSETS)
        or _is_clipped(found)
        or _is_transformed_away(found)
    )


def _is_clipped(found: _Declarations) -> bool:
    """By a box without an area, as for text that only screen readers say."""
    if any(_has(found, name, "hidden", "clip") for name in _OVERFLOWS) and _is_flat(found):
        return True
    for function in _functions(found, "clip"):
        edges = _numbers(function.arguments)
        return bool(edges) and all(abs(edge) <= _UNSEEN_PX for edge in edges)
    for function in _functions(found, "clip-path"):
        if function.lower_name == "inset":
            return _is_inset_away(function.arguments)
        edges = _numbers(function.arguments)
        return function.lower_name in ("circle", "ellipse") and edges[:1] == [0.0]
    return False


def _is_flat(found: _Declarations) -> bool:
    """Whether the box has no area. A number without a unit is 0, or a share of the font size."""
    if any(max(_pixels(found, name), default=0.0) > 0 for name in _GROWTHS):
        return False
    sizes = (_numbers(found.get(name, []), number=_UNITS["em"]) for name in _SIZES)
    return any(max(size, default=9.0) <= _UNSEEN_PX for size in sizes)


def _is_inset_away(arguments: Iterable[Any]) -> bool:
    """Whether opposite edges meet. One to four values set all edges, as those of a margin."""
    edges: list[float] = []
    for part in arguments:
        if part.type == "ident":  # `round`, before the radius of the corners
            break
        if part.type in ("percentage", "number", "dimension"):
            edges.append(part.value if part.type == "percentage" else 0.0)
    for index in range(len(edges), 4) if edges else ():
        edges.append(edges[max(index - 2, 0)])
    return any(edge + opposite >= 100 for edge, opposite in zip(edges[:2], edges[2:], strict=False))


def _is_transformed_away(found: _Declarations) -> bool:
    if 0.0 in _pixels(found, "scale"):
        return True
    for function in _functions(found, "transform"):
        numbers = _numbers(function.arguments)
        if function.lower_name.startswith("scale") and 0.0 in numbers:
            return True
        is_moved = function.lower_name.startswith("translate")
        if is_moved and min(numbers, default=0) <= _OFF_SCREEN_PX:
            return True
    return False


def _font_size(found: _Declarations) -> float | None:
    """In pixels, if it is set and not to a share of the size around it."""
    value = found.get("font-size")
    if value is None:  # in `font`, a number without a unit is the weight, unless it is 0
        parts = found.get("font", [])
        value = [part for part in parts if part.type != "number" or part.value == 0][:]
        value = [part for part in value if part.type in ("number", "dimension", "percentage")]
    for part in value[:1]:
        if part.type == "ident":
            return None if part.lower_value in ("inherit", "larger", "smaller", "unset") else 16.0
        is_relative = part.type == "percentage" or getattr(part, "lower_unit", "") == "em"
        sizes = _numbers([part])
        if sizes and not (is_relative and sizes[0] > _UNSEEN_PX):
            return sizes[0]
    return None


def _is_unseen_colour(found: _Declarations) -> bool:
    colour = _colour(found["color"])
    if colour is None or _is_filled_by_background(found):
        return False
    if colour.alpha < _UNSEEN_OPACITY:
        return True
    behind = found.get("background-color") or found.get("background") or []
    return bool(behind) and _colour(behind[:1]) == colour


def _is_filled_by_background(found: _Declarations) -> bool:
    """A gradient shows through the letters."""
    names = ("background-clip", "-webkit-background-clip", "background")
    return any(_has(found, name, "text") for name in names)


def _colour(value: list[Any]) -> color4.Color | None:
    colour = color4.parse_color(value[0]) if len(value) == 1 else None
    if not isinstance(colour, color4.Color):  # such as `currentcolor`
        return None
    return colour.to("srgb") if colour.space in ("hsl", "hwb") else colour


def _has(found: _Declarations, name: str, *keywords: str) -> bool:
    return any(
        part.type == "ident" and part.lower_value in keywords for part in found.get(name, [])
    )


def _functions(found: _Declarations, name: str) -> list[Any]:
    return [part for part in found.get(name, []) if part.type == "function"]


def _pixels(found: _Declarations, name: str) -> list[float]:
    return _numbers(found.get(name, []))


def _numbers(
    parts: Iterable[Any], *, percent: float = _UNITS["%"], number: float = 1.0
) -> list[float]:
    """The numbers and the lengths in pixels."""
    numbers = []
    for part in parts:
        if part.type == "number":
            numbers.append(part.value * number)
        elif part.type == "percentage":
            numbers.append(part.value * percent)
        elif part.type == "dimension":
            numbers.append(part.value * _UNITS.get(part.lower_unit, _UNIT_PX))
    return numbers
