"""Flyte's `@task`, as a decorator whose function compiles, and as a function that returns a Spec."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack, cast, overload

from ptcompile import streams
from ptcompile.flyte import verdict
from ptcompile.flyte.convert import Converted, convert
from ptcompile.flyte.knobs import Knobs, check_names
from ptcompile.flyte.launch import Entry, entry
from ptcompile.flyte.surprises import surprises
from ptcompile.verbs import compile as api

if TYPE_CHECKING:
    from ptcompile.vocabulary.cluster.model import ClusterProfile
    from ptcompile.vocabulary.spec import Spec

Convert = Callable[[str, Knobs, Entry | None], Converted]
"""A task without its name, the keywords that are added last, and the function that is called."""


@dataclass(frozen=True)
class Task:
    """A decorated function: called, it runs as before; it can also be turned into a spec and into manifests."""

    function: Callable[..., Any]
    finish: Convert
    held: Any = None
    """flytekit's task that has the function, where it was made from one."""
    name: str | None = None
    """Of its job, where a workflow's node has one of its own."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the function here, as Flyte does for local executions."""
        return self.function(*args, **kwargs)

    @property
    def task_function(self) -> Callable[..., Any]:
        """The function, under flytekit's word."""
        return self.function

    @property
    def job_name(self) -> str:
        """The name of the job, where none is given."""
        return self.name or self.function.__name__.replace("_", "-").strip("-").lower()

    def convert(self, name: str | None = None, **more: Unpack[Knobs]) -> Converted:
        """The task as a TrainingJob document. The name is the function's, where none is given."""
        check_names(more)
        return self.finish(name or self.job_name, more, entry(self.function, self, self.held, self.function))

    def spec(self, name: str | None = None, **more: Unpack[Knobs]) -> Spec:
        """The task as a Spec. Raises `FlyteError` where it has a mistake."""
        return self.convert(name, **more).spec()

    def compile(
        self,
        name: str | None = None,
        *,
        cluster: str | bytes | Mapping[str, Any] | ClusterProfile | None = None,
        **more: Unpack[Knobs],
    ) -> api.Result:
        """The task's manifests, and everything there is to say about them. Raises nothing for a user's mistake.

        Whatever is said stands at a place of the Flyte call: `container_image`, `task_config.nproc_per_node`.
        """
        converted = self.convert(name, **more)
        said = tuple(streams.stamp(one, None, None, manifest=converted.document) for one in converted.problems)
        if not converted.ok:
            return api.Result((), said)
        if cluster is None and converted.platform is not None:
            cluster = converted.platform.profile
        result = api.compile(converted.document, cluster=cluster)
        if not result.ok:
            said = tuple(one for one in said if one.severity != "note")
        about = surprises(converted.document, result.manifests)
        told = tuple(streams.stamp(one, None, None, manifest=converted.document) for one in about)
        # two roles without an image are one task without
        found = [verdict.in_flyte_s_words(one) for one in result.diagnostics]
        found = [one for i, one in enumerate(found) if one not in found[:i]]
        manifests = (*converted.objects, *result.manifests) if result.manifests else ()
        return result._replace(manifests=manifests, diagnostics=(*said, *found, *told))


@overload
def task(function: Callable[..., Any], *, task_config: Any = ..., **knobs: Unpack[Knobs]) -> Task: ...
@overload
def task(*, name: str, task_config: Any = ..., **knobs: Unpack[Knobs]) -> Spec: ...
@overload
def task(*, task_config: Any = ..., **knobs: Unpack[Knobs]) -> Callable[[Callable[..., Any]], Task]: ...
def task(
    function: Callable[..., Any] | None = None,
    *,
    name: str | None = None,
    task_config: Any = None,
    **knobs: Unpack[Knobs],
) -> Task | Spec | Callable[[Callable[..., Any]], Task]:
    """Flyte's `@task(task_config=...)` with the words of flytekit 1.16; see `Knobs`.

    With `name` it returns a Spec, and raises `FlyteError` with all mistakes where it has any. Without, it decorates.
    `task_config` and every object in it may be ours or flytekitplugins-kfpytorch's. In the container the decorated
    function is called with `inputs`, unless `script` or `command` says what starts; without a function `module` may.
    """

    def finish(name: str, more: Knobs, called: Entry | None) -> Converted:
        return convert(task_config, name, cast("Knobs", {**knobs, **more}), called)

    return decorate(function, name, knobs, finish)


def decorate(
    function: Callable[..., Any] | None,
    name: str | None,
    knobs: Knobs,
    finish: Convert,
    prepared: Callable[[Callable[..., Any]], Callable[..., Any]] = lambda function: function,
) -> Task | Spec | Callable[[Callable[..., Any]], Task]:
    """One of the three forms: a Spec for a name, a task for a function, else the decorator.

    `prepared` gives the function the form in which the runner calls it.
    """
    check_names(knobs)
    if name is not None:
        return finish(name, {}, None).spec()
    if function is not None:
        return Task(prepared(function), finish)
    return lambda wrapped: Task(prepared(wrapped), finish)
