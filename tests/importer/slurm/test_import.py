"""What an import of a batch script says, keeps and never copies, through each way in."""

from __future__ import annotations

import time
import tracemalloc
from pathlib import Path

import pytest

import ptcompile
from ptcompile.cli import main
from ptcompile.cli.files import UsageError

HEAD = "#!/bin/bash\n#SBATCH --gres=gpu:1\n"


def messages(text: str, **options: object) -> list[str]:
    result = ptcompile.import_manifests(text, **options)  # type: ignore[arg-type]
    return [f"{finding.message} {finding.help}" for finding in result.diagnostics]


def spec_of(body: str, values: dict[str, str] | None = None, head: str = HEAD) -> dict[str, object]:
    result = ptcompile.import_manifests(head + body, values=values)
    assert result.ok, result.diagnostics
    spec: dict[str, object] = result.specs[0]["spec"]
    return spec


@pytest.mark.parametrize("name", ["train.sbatch", "train.slurm"])
def test_a_name_makes_a_script(name: str) -> None:
    assert ptcompile.import_manifests("#!/bin/bash\npython train.py\n", filename=name).specs


def test_directives_make_a_script_whatever_its_name() -> None:
    assert ptcompile.import_manifests(HEAD + "python train.py\n", filename="run.sh").specs
    assert ptcompile.import_manifests(HEAD + "python train.py\n").specs[0]["metadata"] == {
        "name": "sbatch"
    }


def test_a_manifest_that_names_a_directive_is_no_script() -> None:
    text = "# from a file with\n#SBATCH -N2\napiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"
    assert "batch-script" not in [finding.name for finding in ptcompile.lint(text).diagnostics]


@pytest.mark.parametrize("verb", [ptcompile.compile, ptcompile.lint, ptcompile.simulate])
def test_other_verbs_name_import(verb: object) -> None:
    diagnostics = verb(HEAD + "python train.py\n").diagnostics  # type: ignore[operator]
    assert [(finding.code, finding.help) for finding in diagnostics] == [
        ("PTC029", "run ptcompile import FILE, which writes a spec and says what it leaves behind")
    ]


def test_convert_names_import_too() -> None:
    result = ptcompile.convert(HEAD + "python train.py\n", target="jobset")
    assert [finding.code for finding in result.diagnostics] == ["PTC029"]


SECRETS = [
    "export HF_TOKEN=s3cr3tvalue9\npython train.py --token $HF_TOKEN\n",
    "K=s3cr3tvalue9\nexport WANDB_API_KEY=$K\npython train.py --key s3cr3tvalue9\n",
    "WANDB_API_KEY=s3cr3tvalue9 python train.py\n",
    "srun bash -c 'export HF_TOKEN=s3cr3tvalue9; python train.py'\n",
    "wandb login s3cr3tvalue9\nexport WANDB_API_KEY=s3cr3tvalue9\npython train.py & python s3cr3tvalue9.py & wait\n",
]


@pytest.mark.parametrize("body", SECRETS)
def test_no_secret_is_copied(body: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = ptcompile.import_manifests(HEAD + body)
    assert "s3cr3tvalue9" not in str(result.to_dict()) + result.yaml()
    path = tmp_path / "train.sbatch"
    path.write_text(HEAD + body, encoding="utf-8")
    main(["import", str(path)])
    captured = capsys.readouterr()
    assert "s3cr3tvalue9" not in captured.out + captured.err


def test_a_secret_comes_from_a_secret() -> None:
    spec = spec_of("export HF_TOKEN=s3cr3tvalue9\npython train.py --token $HF_TOKEN\n")
    assert spec["env"] == {"HF_TOKEN": {"secretKeyRef": {"name": "hf-token", "key": "HF_TOKEN"}}}
    assert spec["command"] == ["python", "train.py", "--token", "$(HF_TOKEN)"]


def test_the_submitting_shell_s_arguments_and_variables_are_expanded() -> None:
    body = 'python train.py --config $1 --out $OUT "$@"\n'
    assert spec_of(body)["command"] == ["python", "train.py", "--config", "$1", "--out", "$OUT"]
    assert spec_of(body, {"1": "a.yaml", "OUT": "/out"})["command"] == [
        "python", "train.py", "--config", "a.yaml", "--out", "/out", "a.yaml",
    ]  # fmt: skip


def test_a_value_replaces_what_the_script_computes() -> None:
    body = "N=$(wc -l < list.txt)\npython train.py --lines $N\n"
    assert spec_of(body, {"N": "7"})["command"] == ["python", "train.py", "--lines", "7"]


def test_jobs_of_an_array_share_what_the_script_does_not_say() -> None:
    head = "#!/bin/bash\n#SBATCH --array=0-1\n"
    body = "export DATA=$SCRATCH/x\nLRS=(1 2)\nLR=${LRS[$SLURM_ARRAY_TASK_ID]}\npython train.py --data $DATA --lr $LR\n"
    (document,) = ptcompile.import_manifests(head + body).specs
    assert document["spec"]["command"] == [
        "python",
        "train.py",
        "--data",
        "$(DATA)",
        "--lr",
        "$(LR)",
    ]
    assert document["variants"] == {"lr-1": {"env": {"LR": "1"}}, "lr-2": {"env": {"LR": "2"}}}


def test_a_doubt_about_a_step_is_at_its_line() -> None:
    result = ptcompile.import_manifests(
        "#!/bin/bash\n#SBATCH -N2\n\nsrun -N2 -n8 python train.py\n"
    )
    assert [
        finding.span.line
        for finding in result.diagnostics
        if "--ntasks" in finding.message
        if finding.span
    ] == [4]


def test_tables_of_the_cluster_decide_queue_and_priority() -> None:
    head = "#!/bin/bash\n#SBATCH -q high -p gpu -A other\n"
    spec = spec_of("python train.py\n", {"partition.gpu": "research", "qos.high": "urgent"}, head)
    assert (spec["queue"], spec["priority"]) == ("research", "urgent")
    text = f"{head}python train.py\n"
    reported = messages(text, values={"partition.gpu": "research", "qos.high": "urgent"})
    assert not any("-p gpu" in message or "-q high" in message for message in reported)
    assert any("-p gpu" in message for message in messages(text))


def test_the_command_line_imports_a_script(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "train.sbatch"
    path.write_text("#!/bin/bash\n#SBATCH -p gpu\npython train.py $1\n", encoding="utf-8")
    assert main(["import", str(path), "--set", "1=a.yaml", "--set", "partition.gpu=research"]) == 0
    captured = capsys.readouterr()
    assert "command: [python, train.py, a.yaml]" in captured.out
    assert "queue: research" in captured.out
    assert "imported from batch scripts" in captured.err
    with pytest.raises(UsageError):
        main(["import", str(path), "--set", "no such=1"])


WORDS = [
    "partition",
    "requeue",
    "qos",
    "account",
    "gres",
    "array",
    "sbatch",
    "srun",
    "ntasks-per-node",
]


@pytest.mark.parametrize("word", WORDS)
def test_words_of_slurm_are_known(word: str) -> None:
    with pytest.raises(UsageError, match="; "):
        main(["explain", word])
    spec = {"image": "a/b:1", "script": "train.py", word: "x"}
    document = {
        "apiVersion": "ptcompile/v1",
        "kind": "TrainingJob",
        "metadata": {"name": "j"},
        "spec": spec,
    }
    help = ptcompile.compile(document).diagnostics[0].help
    assert help is not None
    assert "run ptcompile explain spec" not in help


@pytest.mark.parametrize("word", ["sbatch", "srun"])
def test_commands_of_slurm_mean_import(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([word, "train.sbatch"]) == 2
    assert "did you mean import?" in capsys.readouterr().err


HOSTILE = {
    "a megabyte of directives": "#!/bin/bash\n"
    + "#SBATCH --gres=gpu:1,nvme:2 --comment=x\n" * 24_000,
    "a line of a megabyte": HEAD + "python train.py " + "x" * 1_000_000,
    "options of a megabyte": "#!/bin/bash\n#SBATCH " + "-N2 " * 250_000 + "\npython train.py\n",
    "a deep nest": HEAD + "if true; then\n" * 3_000 + "python train.py\n" + "fi\n" * 3_000,
    "deep substitutions": HEAD + "python train.py " + "$(" * 5_000 + ")" * 5_000 + "\n",
    "an array of a billion": "#!/bin/bash\n#SBATCH --array=0-999999999\npython train.py $SLURM_ARRAY_TASK_ID\n",
    "many programs": HEAD + "python train.py\n" * 40_000,
    "many exports": HEAD
    + "".join(f"export A{n}=$USER/{n}\n" for n in range(20_000))
    + "python train.py\n",
    "an array over a long script": (
        "#!/bin/bash\n#SBATCH --array=0-255\n"
        + "A=$SLURM_ARRAY_TASK_ID\n" * 3_000
        + "python train.py $A\n"
    ),
    "many mounts": "#!/bin/bash\n#SBATCH --container-mounts="
    + "/a:/b," * 100_000
    + "\npython train.py\n",
    "braces": HEAD + "python train.py " + "{a,b}" * 200 + "\n",
    "nothing": HEAD,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_scripts_cost_little(name: str) -> None:
    """At most 5 seconds and 200 MB for a megabyte, on a loaded machine too."""
    tracemalloc.start()
    started = time.process_time()
    result = ptcompile.import_manifests(HOSTILE[name], filename="a.sbatch")
    seconds = time.process_time() - started
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert result.diagnostics or result.specs
    assert len(result.diagnostics) <= 500
    assert seconds < 15  # tracemalloc makes it several times slower
    assert peak < 200 << 20


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 13, 40])
def test_any_beginning_of_a_script_is_read(size: int) -> None:
    text = (Path(__file__).parent / "scripts" / "07-launcher-variable.sbatch").read_text(
        encoding="utf-8"
    )
    for end in range(0, len(text), size * 7):
        ptcompile.import_manifests(text[:end], filename="a.sbatch")
