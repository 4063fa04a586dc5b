import json

import pytest

from gpusim.analysis.search import kernel_tuner
from gpusim.analysis.search.kernel_tuner import Entry, read_t1, write_cache, write_t4
from isa.errors import UserError

VALUES = {"blocking": [1, 2, 3], "pipe.order": ["base", "both"]}
ENTRIES = [
    Entry({"blocking": 1, "pipe.order": "base"}, 2.0, 100.0),
    Entry({"blocking": 2, "pipe.order": "both"}, 0.5, 400.0),
    Entry({"blocking": 3, "pipe.order": "both"}, None),
]
T1 = {
    "ConfigurationSpace": {
        "TuningParameters": [
            {"Name": "MWG", "Type": "int", "Values": "[16, 32, 64]"},
            {"Name": "VWM", "Type": "int", "Values": "list(range(1, 5))"},
            {"Name": "ORDER", "Type": "string", "Values": "('a', 'b')"},
        ],
        "Conditions": [{"Parameters": ["MWG", "VWM"], "Expression": "MWG % (16 * VWM) == 0 and ORDER in ('a', 'c')"}],
    },
    "KernelSpecification": {},
}


def t1_file(tmp_path, **changes):
    """Write a T1 file with some parts of its space replaced."""
    content = T1 | {"ConfigurationSpace": T1["ConfigurationSpace"] | changes}
    (path := tmp_path / "t1.json").write_text(json.dumps(content))
    return path


def test_a_cache_has_every_point_of_the_product(tmp_path):
    """Keys are the values in the order of the axes; points without an entry or a time are `InvalidConfig`."""
    write_cache(path := tmp_path / "cache.json", "gtx580", "sgemm-lai", [96, 96, 32], VALUES, ENTRIES)
    found = json.loads(path.read_text())
    assert found["tune_params_keys"] == list(VALUES)
    assert found["tune_params"] == VALUES
    assert (found["device_name"], found["kernel_name"], found["problem_size"]) == ("gtx580", "sgemm-lai", [96, 96, 32])
    cache = found["cache"]
    assert list(cache) == ["1,base", "1,both", "2,base", "2,both", "3,base", "3,both"]
    times = [each["time"] for each in cache.values()]
    assert times == [2.0, "InvalidConfig", "InvalidConfig", 0.5, "InvalidConfig", "InvalidConfig"]
    for key, each in cache.items():
        assert key == f"{each['blocking']},{each['pipe.order']}"


def test_a_product_too_large_is_refused(tmp_path, monkeypatch):
    """A cache of 6 points is refused if the limit is 5, and no file is written."""
    monkeypatch.setattr(kernel_tuner, "MOST", 5)
    with pytest.raises(UserError, match=r"cache.json: a cache has all points of the product, more than 5; write T4"):
        write_cache(tmp_path / "cache.json", "gtx580", "sgemm-lai", [1], VALUES, ENTRIES)
    assert list(tmp_path.iterdir()) == []


def test_t4_results_are_the_entries(tmp_path):
    """Each entry is a result with its time, or without one if it has none."""
    write_t4(path := tmp_path / "t4.json", ENTRIES)
    found = json.loads(path.read_text())["results"]
    assert [each["configuration"] for each in found] == [entry.point for entry in ENTRIES]
    assert [each["invalidity"] for each in found] == ["correct", "correct", "constraints"]
    assert [each["times"]["runtimes"] for each in found] == [[2.0], [0.5], []]
    assert found[0]["measurements"] == [
        {"name": "time", "value": 2.0, "unit": "ms"},
        {"name": "GFLOP/s", "value": 100.0, "unit": "GFLOP/s"},
    ]


def test_a_t1_file_has_values_and_conditions(tmp_path):
    """Lists, tuples and ranges are values; a condition is evaluated at each point."""
    assert read_t1(t1_file(tmp_path, TuningParameters=[{"Name": "A", "Values": [4, 8]}], Conditions=[])).values == {
        "A": [4, 8]
    }
    space = read_t1(t1_file(tmp_path))
    assert space.values == {"MWG": [16, 32, 64], "VWM": [1, 2, 3, 4], "ORDER": ["a", "b"]}
    assert space.allows({"MWG": 32, "VWM": 2, "ORDER": "a"})
    assert not space.allows({"MWG": 32, "VWM": 3, "ORDER": "a"})
    assert not space.allows({"MWG": 32, "VWM": 2, "ORDER": "b"})
    assert read_t1(t1_file(tmp_path, Conditions=[])).allows({"MWG": 32, "VWM": 3, "ORDER": "b"})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"TuningParameters": 3}, "is no T1 file; give JSON with ConfigurationSpace.TuningParameters"),
        ({"TuningParameters": [{"Name": "A"}]}, "is no T1 file; "),
        ({"TuningParameters": [{"Name": "A", "Values": "[1, 2"}]}, r"\[1, 2: is no expression; write it as in Python"),
        (
            {"TuningParameters": [{"Name": "A", "Values": "3"}]},
            r"A: 3 is no list of numbers or words; write ",
        ),
        ({"TuningParameters": [{"Name": "A", "Values": "[[1]]"}]}, r"a list holds numbers and words only"),
        ({"TuningParameters": [{"Name": "A", "Values": "open('x')"}]}, "takes numbers, operators and range, list, min"),
        (
            {"Conditions": [{"Expression": "MGW == 1"}]},
            "there is no parameter MGW; choose from MWG, VWM, ORDER",
        ),
        ({"Conditions": [{"Expression": "().__class__"}]}, "takes numbers, operators and "),
        ({"Conditions": [{"Expression": "9 ** 9 ** 9"}]}, "takes .* leave out other operators"),
    ],
)
def test_an_invalid_space_is_refused(changes, message, tmp_path):
    """A file without a space, and a text that is no list or no condition, are refused with the cause."""
    with pytest.raises(UserError, match=message):
        read_t1(t1_file(tmp_path, **changes))


def test_a_condition_that_can_not_be_computed_is_reported(tmp_path):
    """A condition that divides by zero is reported with the file's name."""
    space = read_t1(t1_file(tmp_path, Conditions=[{"Expression": "MWG % (VWM - 1) == 0"}]))
    with pytest.raises(UserError, match=r"t1.json: integer modulo by zero; correct the expression"):
        space.allows({"MWG": 16, "VWM": 1, "ORDER": "a"})


@pytest.mark.parametrize("text", ["no json", "[1]", "{}", "\udcff"])
def test_another_file_is_no_t1_file(text, tmp_path):
    """Text that is no JSON, JSON that is no T1 file, and a missing file are refused."""
    (path := tmp_path / "t1.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(UserError, match="is no T1 file"):
        read_t1(path)
    with pytest.raises(UserError, match="No such file or directory; give a T1 file"):
        read_t1(tmp_path / "none.json")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:None of the tunable parameters")  # nothing is launched
def test_kernel_tuner_reads_the_cache(tmp_path, monkeypatch):
    """In its simulation mode Kernel Tuner finds every point's time and the fastest one."""
    tuner = pytest.importorskip("kernel_tuner")
    monkeypatch.chdir(tmp_path)
    write_cache(path := tmp_path / "cache.json", "gtx580", "sgemm-lai", [96, 96, 32], VALUES, ENTRIES)
    before = path.read_bytes()
    results, environment = tuner.tune_kernel(
        "sgemm-lai",
        "",
        [96, 96, 32],
        [],
        VALUES,
        simulation_mode=True,
        cache=str(path),
        strategy="brute_force",
        quiet=True,
    )
    times = {(each["blocking"], each["pipe.order"]): each["time"] for each in results}
    assert {point: time for point, time in times.items() if isinstance(time, float)} == {
        (1, "base"): 2.0,
        (2, "both"): 0.5,
    }
    assert environment["best_config"]["blocking"] == 2
    assert path.read_bytes() == before


@pytest.mark.slow
def test_t4_results_obey_kernel_tuners_schema(tmp_path):
    """Both kinds of results are valid under the schema in its package."""
    files, schema = pytest.importorskip("kernel_tuner.file_utils"), pytest.importorskip("jsonschema")
    write_t4(path := tmp_path / "t4.json", ENTRIES)
    version, wanted = files.output_file_schema("results")
    found = json.loads(path.read_text())
    schema.validate(found, wanted)
    assert found["schema_version"] == version


@pytest.mark.parametrize(
    "changes",
    [
        {"TuningParameters": [{"Name": "A", "Values": text}]}
        for text in ("range(10**12)", "range(1000000000000)", "[1<<40000000000]", "[0] * 1000000000", "-" * 3_000 + "1")
    ]
    + [{"Conditions": [{"Expression": text}]} for text in ("-" * 3_000 + "MWG", "not " * 3_000 + "MWG", "(" * 3_000)],
)
def test_a_space_without_end_is_refused(changes, tmp_path):
    """Values too large for memory, and expressions nested too deeply, are refused in at most 2000 characters."""
    with pytest.raises(UserError, match=r"t1.json: ") as raised:
        read_t1(t1_file(tmp_path, **changes))
    assert len(str(raised.value)) <= 2000


@pytest.mark.parametrize("brackets", ["[]", "{}"])
def test_json_that_is_nested_without_end_is_no_t1_file(brackets, tmp_path):
    """100,000 nested brackets are refused."""
    opened = {"[]": "[", "{}": '{"a":'}[brackets]
    (path := tmp_path / "t1.json").write_text(opened * 100_000 + "1" + brackets[1] * 100_000)
    with pytest.raises(UserError, match="is no T1 file"):
        read_t1(path)
