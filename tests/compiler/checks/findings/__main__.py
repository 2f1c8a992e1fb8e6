"""Write the findings of all cases again."""

from tests.compiler.checks.findings import FOLDER, again, cases

for path in FOLDER.glob("*.txt"):
    path.write_text(
        "\n".join(again(case, path.stem) for case in cases(path.stem)) + "\n", encoding="utf-8"
    )
