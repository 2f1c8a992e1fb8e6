"""`explain`: the origin of every value in the manifests of a stream of specs, and the page that
shows all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ptcompile._internal import arguments
from ptcompile.api.inputs import AnyProfile, Inputs, JobSource, OverridePairs
from ptcompile.diagnostics.selection import NO_CODES, Selection, selection
from ptcompile.explainer import explanation
from ptcompile.explainer.explanation import Draft, Explanation, SharedInputs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.explainer.page import ExplainPage
    from ptcompile.extending import Extensions


def explain(
    spec: JobSource,
    *,
    target: str | None = None,
    cluster: AnyProfile | None = None,
    name: str | None = None,
    filename: str | None = None,
    cluster_filename: str | None = None,
    overrides: OverridePairs = (),
    variants: Iterable[str] = (),
    lint: bool = True,
    select: Iterable[str] | None = None,
    ignore: Iterable[str] = (),
    severity: Mapping[str, str] | None = None,
    extensions: Extensions | None = None,
) -> Explanation:
    """Return the origin of every value in a stream's manifests: the pass that wrote it, its reason,
    and the lines it depends on.

    Arguments as for `compile`; the file names are used only for positions. The findings are those
    of `compile`, but a document with an error of a rule is explained too. To find the lines that
    each value depends on, every document is compiled some hundred times, with one line changed each
    time (several at a time in long lists). Mistakes in the spec or profile never raise. Raises
    ValueError for a selector that selects nothing.
    """
    arguments.check(target=target, cluster_filename=cluster_filename, extensions=extensions)
    codes = extensions.codes if extensions is not None else NO_CODES
    selected = selection(select, ignore, codes, severity) if lint else None
    inputs = Inputs.read(
        spec,
        parameter="spec",
        filename=filename,
        cluster=cluster,
        cluster_filename=cluster_filename,
        name=name,
        overrides=overrides,
        variants=variants,
        extensions=extensions,
        only_specs=True,
    )

    return explain_inputs(inputs, target, selected)


def explain_inputs(inputs: Inputs, target: str | None, selected: Selection | None) -> Explanation:
    """Explain every document of a file."""
    shared = _shared_inputs(inputs)
    drafts = {"": _draft(inputs, target, selected, shared)}
    return explanation.with_causes(drafts, shared)[""]


def _draft(
    inputs: Inputs, target: str | None, selected: Selection | None, shared: SharedInputs
) -> Draft:
    """Explain every document of a file, without causes; calls for the same inputs pass the same
    `shared`.
    """
    if inputs.has_wrong_settings:
        return Draft(Explanation((), (), (), inputs.limited(), {}), {}, chosen=False)

    made = explanation.draft(
        inputs.documents,
        inputs.profile,
        shared,
        target=target,
        settings_diagnostics=inputs.settings_diagnostics,
        diagnostics=(
            *inputs.text_diagnostics,
            *inputs.variant_diagnostics,
            *inputs.surplus_documents,
        ),
        selection=selected,
        extensions=inputs.extensions,
    )
    diagnostics = tuple(inputs.once_each(made.explanation.diagnostics))

    return made._replace(explanation=made.explanation._replace(diagnostics=diagnostics))


def _shared_inputs(inputs: Inputs) -> SharedInputs:
    """Return what explanations of the same inputs for several targets have in common."""
    (file,) = inputs.files
    profile = inputs.profile_source
    has_lines = profile is not None and bool(profile.text)
    return SharedInputs(file.source, profile if has_lines else None, file.name)


def explain_page(
    inputs: Inputs, target: str | None = None, selected: Selection | None = None
) -> ExplainPage:
    """Return the page of a spec for one target, or for all of them. A page is about the lines of a
    text.

    An invalid profile leaves no listings, and neither does a spec above the limit.
    """
    from ptcompile.explainer import page

    shared = _shared_inputs(inputs)
    if page.is_too_large(shared):
        return page.too_large_page(shared)

    profile = None if inputs.has_wrong_settings else inputs.profile
    return page.gather(shared, profile, lambda name: _draft(inputs, name, selected, shared), target)
