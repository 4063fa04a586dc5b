"""`python -m gpusim`: the same as the command `gpusim`."""

from gpusim.commands.main import main

if __name__ == "__main__":
    main()
