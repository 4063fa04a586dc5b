import pytest

from gpusim.reproduction.unclaimed import FILE, Unclaimed, read
from isa.errors import UserError

HEAD = "seed,place,what,because\n"


def test_the_list_of_the_project_can_be_read():
    """Every row has a document, a place, what is said there, and why it is no claim; none stands twice."""
    assert FILE.is_file()
    assert len(set(read())) == len(read())


def test_rows_are_read_in_order(tmp_path):
    """A cell in quotes may have commas."""
    path = tmp_path / "list.csv"
    path.write_text(f'{HEAD}tan,section 6,"other work, on CPUs",about no GPU\nlai,abstract,a date,no result\n')
    assert read(path) == (
        Unclaimed("tan", "section 6", "other work, on CPUs", "about no GPU"),
        Unclaimed("lai", "abstract", "a date", "no result"),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: the first line must be seed,place,what,because"),
        ("seed,what\n", "1: the first line must be seed,place,what,because"),
        (
            f"{HEAD}tan,1,two, three,four\n",
            "2: 5 cells, or an empty one; write seed, place, what, because, with",
        ),
        (f"{HEAD}tan,1, ,why\n", "2: 4 cells, or an empty one"),
        (f"{HEAD}\n", "2: 0 cells, or an empty one"),
        (f"{HEAD}tam,1,what,why\n", "2: there is no document tam; choose one of lai, kurzak"),
        (f"{HEAD}tan,1,what,why\ntan,1,what,why\n", "3: the same row stands above; remove one"),
    ],
)
def test_a_bad_list_is_refused_with_its_line(tmp_path, text, message):
    """Other columns, cells that are missing, too many or empty, unknown documents and repeats end in one line."""
    path = tmp_path / "list.csv"
    path.write_text(text)
    with pytest.raises(UserError) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}:{message}")
