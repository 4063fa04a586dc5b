"""The register file: banks, operand collection, the reuse cache."""
