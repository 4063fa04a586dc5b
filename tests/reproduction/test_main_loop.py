from gpusim.reproduction.main_loop import main_loop
from isa.text.listing import read


def test_the_main_loop_ends_with_its_branch():
    """The main loop includes a branch out of it, and excludes the instructions before and after it."""
    inside = "IADD R1, R1, -1\nISETP.EQ P1, R1, 7\n@P1 BRA out\nISETP.GT P0, R1, 0\n@P0 BRA loop\n"
    program = read(f"MOV R1, 3\nloop:\n{inside}out:\nEXIT\n").program
    assert main_loop(program) == program.instructions[1:6]
