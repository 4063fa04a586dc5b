import pytest

from gpusim.reproduction.claims import Claim
from gpusim.reproduction.finding import (
    KINDS,
    arithmetic,
    counted,
    fitted,
    given,
    in_sight,
    judge,
    not_reproducible,
    predicted,
    registrar,
)


def verdict(published, tolerance, *ours, **more):
    """Judge figures against a claim."""
    return judge(Claim("XX01", "lai", "", published, tolerance), predicted(*ours, **more))


@pytest.mark.parametrize(("ours", "passed"), [(76.5625, True), (76.46, True), (76.6, False), (76.44, False)])
def test_exact_means_the_printed_digits(ours, passed):
    """A number is exact if it is the printed one, rounded or cut off at the last digit."""
    assert verdict("76.5", "exact", ours).passed is passed


@pytest.mark.parametrize(("ours", "passed"), [(2, True), (2.4, False), (1.9, False)])
def test_a_count_is_the_printed_number(ours, passed):
    """Counts in a stream are whole numbers, neither rounded nor cut off."""
    assert judge(Claim("XX01", "lai", "", "2", "exact"), counted(ours)).passed is passed


def test_the_largest_error_is_reported_and_all_must_keep_the_tolerance():
    """The reported error is the worst relative one, with its sign, and one error beyond the tolerance fails."""
    found = verdict("100 / 200", "2 %", 101, 197)
    assert found.error == pytest.approx(-0.015)
    assert found.passed is True
    assert verdict("100 / 200", "2 %", 101, 195).passed is False


def test_points_are_differences():
    """If the tolerance is in points, so is the error."""
    found = verdict("70", "3 points", 67.5)
    assert (found.error, found.passed) == (-2.5, True)


def test_a_figure_that_the_document_leaves_out_is_not_compared():
    """Our figure is shown where the document has a question mark, and is not judged."""
    found = verdict("? / 16", "exact", 5, 16)
    assert (found.ours, found.error, found.passed) == ("5 / 16", 0.0, True)


def test_words_must_be_the_same():
    """The same order passes and another fails; a claim that is not reproducible has no verdict."""
    assert verdict("NT > TN", "order", "NT > TN").passed is True
    assert verdict("NT > TN", "order", "TN > NT").passed is False
    for ours in ("", "a plot"):
        assert judge(Claim("XX01", "lai", "", "a plot", "none"), not_reproducible("no numbers", ours)).passed is None


def test_a_tolerance_in_words_needs_a_verdict():
    """Figures whose tolerance is no number are judged by the claim's own function, or not at all."""
    assert verdict("57", "at most", 50, passed=True).passed is True
    with pytest.raises(ValueError, match="needs a verdict"):
        verdict("57", "at most", 50)
    with pytest.raises(ValueError, match="2 figures for 1"):
        verdict("57", "exact", 50, 60)


def test_figures_are_shown_with_the_published_decimals():
    """Figures have as many decimals as were printed, or more if they would show nothing of the number."""
    assert verdict("30.4 / 1", "5 %", 30.8651, 0.0123).ours == "30.9 / 0.012"


def test_every_kind_is_known():
    """The findings of these functions begin with one of the kinds."""
    more = fitted("2 parameters on a table", 1), in_sight("a policy; an order", 1), not_reproducible("no figures")
    for finding in (counted(1), arithmetic(1), given(1), predicted(1), *more):
        assert finding.kind.split(":")[0] in KINDS
    assert [finding.kind.partition(": ")[2] for finding in more[:2]] == [
        "2 parameters on a table",
        "a policy; an order",
    ]


@pytest.mark.parametrize("kind", [fitted, in_sight])
@pytest.mark.parametrize("what", ["", " ", "a policy; "])
def test_what_was_chosen_is_named(kind, what):
    """A fit without its data, or a choice without its name, is an error."""
    with pytest.raises(ValueError, match="leave out the empty part"):
        kind(what, 1)


def test_the_decorator_enters_a_function_under_its_claim():
    """The decorator returns the function unchanged and enters it in the table under its claim."""
    table = {}
    assert registrar(table)("LS01")(len) is len
    assert table == {"LS01": len}
