import json

import pytest

from gpusim.commands.main import execute

EXCHANGE = """.kernel exchange
.block 64
.shared 256
    S2R R0, TID.X
    SHL R1, R0, 2
    STS [R1], R0
    BAR.SYNC 0
    LOP.XOR R2, R1, 0x80
    LDS R3, [R2]
"""
UNORDERED = EXCHANGE.replace("BAR.SYNC 0", "NOP")
NOT_CHECKED = "not checked: lanes of one warp, other memories, different blocks, barriers that threads skip"
SMALL = ["sgemm-lai", "-p", "m=96", "-p", "n=96", "-p", "k=32"]


def write(folder, text):
    path = folder / "exchange.asm"
    path.write_text(text)
    return str(path)


def test_a_listing_without_its_barrier_is_reported(capsys, tmp_path):
    """Without the barrier, one line names both instructions of the race, and the exit code is 1."""
    assert execute(["races", write(tmp_path, UNORDERED)]) == 1
    head, *lines = capsys.readouterr().out.splitlines()
    assert head == "exchange: 1 race, in 1 block; checked 1 block"
    assert len(lines) == 2
    assert lines[1] == NOT_CHECKED
    assert "line 6, pc 2 `STS [R1], R0`" in lines[0]
    assert "line 9, pc 5 `LDS R3, [R2]`" in lines[0]


def test_the_barrier_orders_them(capsys, tmp_path):
    """The same listing with its barrier has no race, and the exit code is 0."""
    assert execute(["races", write(tmp_path, EXCHANGE)]) == 0
    assert capsys.readouterr().out == f"exchange: no race between warps on shared memory in 1 block; {NOT_CHECKED}\n"


def test_the_published_sgemm_has_no_race(capsys):
    """The SGEMM of Lai and Seznec orders every access to its tiles."""
    assert execute(["races", *SMALL]) == 0
    assert capsys.readouterr().out == f"sgemm-lai: no race between warps on shared memory in 1 block; {NOT_CHECKED}\n"


def test_a_large_grid_is_checked_at_its_first_and_last_block(capsys, tmp_path):
    """A grid of 17 blocks is checked at its first and last, as the text says; a grid of 16 is checked whole."""
    assert execute(["races", write(tmp_path, f".grid 17\n{EXCHANGE}")]) == 0
    head = "exchange: no race between warps on shared memory in 2 blocks (the first and the last of 17)"
    assert capsys.readouterr().out == f"{head}; {NOT_CHECKED}\n"
    assert execute(["races", write(tmp_path, f".grid 16\n{EXCHANGE}")]) == 0
    assert capsys.readouterr().out == f"exchange: no race between warps on shared memory in 16 blocks; {NOT_CHECKED}\n"


def test_a_race_in_the_last_block_alone_is_found(capsys, tmp_path):
    """A race in block 16 of 17 alone is found, and the text names that block."""
    guarded = UNORDERED.replace("    LDS", "    S2R R4, CTAID.X\n    ISETP.EQ P0, R4, 16\n    @P0 LDS")
    assert execute(["races", write(tmp_path, f".grid 17\n{guarded}")]) == 1
    assert "race in block 16 " in capsys.readouterr().out


def test_a_machine_must_be_able_to_run_the_kernel(capsys, tmp_path):
    """A machine changes no race; one that can't run the kernel is refused in one line, and so is a setting of none."""
    listing = write(tmp_path, UNORDERED)
    assert execute(["races", listing]) == execute(["races", listing, "--machine", "h200"]) == 1
    assert len(set(capsys.readouterr().out.split("exchange: ")[1:])) == 1
    assert execute(["races", listing, "--machine", "h200", "--set", "limits.threads=32"]) == 2
    assert execute(["races", listing, "--set", "limits.threads=32"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 2


def test_json_holds_the_races(capsys, tmp_path):
    """The JSON document has the checked blocks and both accesses of each race; the exit code is 1."""
    assert execute(["races", write(tmp_path, UNORDERED), "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["schema_version"], document["kernel"], document["blocks"]) == (1, "exchange", 1)
    assert document["blocks_checked"] == [0]
    (race,) = document["races"]
    assert (race["block"], race["address"] % 4) == (0, 0)
    sides = {(side["pc"], side["line"], side["writes"], side["text"]) for side in (race["first"], race["second"])}
    assert sides == {(2, 6, True, "STS [R1], R0"), (5, 9, False, "LDS R3, [R2]")}
    assert {race["first"]["warp"], race["second"]["warp"]} == {0, 1}


def test_json_of_an_ordered_kernel_has_no_race(capsys):
    """Without a race the list is empty and the exit code is 0."""
    assert execute(["races", *SMALL, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["races"] == []


@pytest.mark.parametrize(
    "text",
    [
        ".block 32\n.shared 128\nS2R R0, TID.X\nSHL R1, R0, 2\nSTS [R1], R0\nLOP.XOR R2, R1, 4\nLDS R3, [R2]\nEXIT\n",
        ".block 2\n.shared 4\nS2R R0, TID.X\nSTS [RZ], R0\nLDS R3, [RZ]\nEXIT\n",
        ".block 32\nS2R R0, TID.X\nISETP.LT P0, R0, 20\n@P0 BAR.SYNC 0\nEXIT\n",
    ],
    ids=["a warp without __syncwarp", "two threads of a warp", "a barrier in a branch"],
)
def test_what_is_not_looked_at_is_said(capsys, tmp_path, text):
    """Of races within a warp and of skipped barriers nothing is said but that they were not checked, in both forms."""
    path = write(tmp_path, text)
    assert execute(["races", path]) == 0
    assert capsys.readouterr().out.endswith(f"no race between warps on shared memory in 1 block; {NOT_CHECKED}\n")
    assert execute(["races", path, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert f"not checked: {', '.join(document['not_checked'])}" == NOT_CHECKED
    assert document["checked"] == (
        "accesses of different warps, copies and matrix instructions to one word of shared memory"
    )


def test_wrong_values_send_to_what_races_finds(capsys, tmp_path):
    """A run with wrong values names the command, and that it does not look at lanes of one warp."""
    text = ".block 32\n.shared 128\n.buffer y f32 1\n.expect y = 1\nSTS [RZ], RZ\nEXIT\n"
    assert execute(["run", write(tmp_path, text)]) == 1
    assert "`gpusim races KERNEL` tells if warps, but not lanes of one, lack a barrier" in " ".join(
        capsys.readouterr().out.split()
    )
