from xml.etree.ElementTree import Element, fromstring, tostring

import pytest

from gpusim.views.picture import words


@pytest.mark.parametrize(("text", "shown"), [("a\x0cb\0", "a\ufffdb\ufffd"), ("\ud800", "\ufffd"), ("<&\tü", "<&\tü")])
def test_any_text_makes_a_picture_that_can_be_read(text, shown):
    """Characters that XML forbids, as sources may have them, are replaced; all others are kept."""
    root = Element("svg")
    words(root, 1, 2, text, "#000000")
    assert fromstring(tostring(root))[0].text == shown
