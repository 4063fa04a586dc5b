"""Reads the SVG of charts as a browser lays it out in a window of some width."""

import re
from xml.etree import ElementTree

CHARACTER = 7.6  # pixels of a character in 12 px, at most in the mean


def svgs(page):
    """Return the pictures of a page of charts."""
    return [ElementTree.fromstring(each) for each in re.findall(r"<figure>(<svg.*?</svg>)</figure>", page, re.DOTALL)]


def length(text, whole):
    """Return a length in pixels, of so many where it is a share."""
    return float(text[:-1]) * whole / 100 if text.endswith("%") else float(text)


def texts(svg, width):
    """Return each text with its left and right end and its baseline, in a picture so many pixels wide."""
    found = []
    for parent in svg.iter():
        for one in parent:
            if one.tag != "text":
                continue
            base = length(parent.get("x"), width) if parent is not svg and parent.get("x") else 0
            room, anchor = CHARACTER * len(one.text), one.get("text-anchor", "start")
            left = base + length(one.get("x"), width) - room * {"start": 0, "middle": 0.5, "end": 1}[anchor]
            found.append((one.text, left, left + room, float(one.get("y"))))
    return found


def collisions(svg, width):
    """Return the pairs of texts of which one is in the way of the other."""
    seen = texts(svg, width)
    return [
        (one[0], other[0])
        for number, one in enumerate(seen)
        for other in seen[:number]
        if abs(one[3] - other[3]) < 12 and one[1] < other[2] and other[1] < one[2]
    ]
