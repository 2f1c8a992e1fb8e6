"""The language server over pygls: features, the worker thread, warming up.

A worker thread does all the work, so the reader thread can cancel requests and drop findings for
outdated text.
"""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any, TypeVar

from lsprotocol import types as lsp
from lsprotocol.types import Position, Range
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from ptcompile._internal.about import __version__
from ptcompile._internal.deadline import deadline
from ptcompile._internal.limits import UNTRUSTED_SECONDS, NotFinishedError
from ptcompile.kubernetes.unstructured import Json, JsonDict, as_mapping
from ptcompile.operators.targets import TARGETS
from ptcompile.server import completion, definition, diagnostics as actions, hover, lenses, symbols
from ptcompile.server.document import OpenDocument, Texts
from ptcompile.server.lenses import TextView, manifests
from ptcompile.server.workspace import NAMED, Surroundings

_SPEC = """\
apiVersion: ptcompile/v1
kind: TrainingJob
metadata: {name: warm}
spec:
  image: warm:latest
  script: train.py
  nodes: 2
  resources: {cpu: 1, memory: 1Gi, gpu: 1}
  target: TARGET
"""


def warm_up(pause: Callable[[], None]) -> None:
    """Run every feature on a spec for each target and on the compiled manifests, to load modules
    and schemas.
    """
    everywhere = Range(Position(0, 0), Position(100, 0))
    for target in TARGETS:
        spec = OpenDocument("", "", _SPEC.replace("TARGET", target), pause=pause)
        compiled = manifests(spec, 0, None)
        for opened in (
            spec,
            OpenDocument("", "", compiled.text if compiled is not None else "", pause=pause),
        ):
            actions.diagnostics(opened)
            symbols.symbols(opened)
            lenses.inlay_hints(opened, everywhere)
            lenses.code_lenses(opened)
            actions.actions(opened, everywhere, None, None)
            hover.hover(opened, Position(4, 3))
            definition.definition(opened, Position(4, 12))
            completion.complete(opened, Position(5, 2))
            pause()

    gc.collect()
    # later garbage collections skip the loaded modules and schemas
    gc.freeze()


class Stopped(Exception):  # noqa: N818 - not an error: the request was canceled
    """Raised in canceled work at its next pause."""


class BackgroundWorker:
    """A single worker thread: runs one task at a time, so shared data needs no locks."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="ptcompile")

    async def run(self, work: Callable[[Callable[[], None]], _T]) -> _T:
        """Return the result of `work`, which must call its argument `pause` regularly.

        If the awaiting task is canceled, queued work never starts and running work stops at its
        next pause.
        """
        stopped = Event()

        def pause() -> None:
            if stopped.is_set():
                raise Stopped

        def begin() -> _T:
            pause()
            try:
                with deadline(UNTRUSTED_SECONDS):
                    return work(pause)
            except NotFinishedError:
                raise TimeoutError(f"not finished after {UNTRUSTED_SECONDS:g} s") from None

        try:
            return await asyncio.wrap_future(self._pool.submit(begin))
        except asyncio.CancelledError:
            stopped.set()
            raise

    def close(self) -> None:
        """Start no more work."""
        self._pool.shutdown(wait=False, cancel_futures=True)


_T = TypeVar("_T")

SurroundingsFactory = Callable[[list[str], Json], Surroundings]
"""Builds the server's view of the disk from the workspace folders and the client's
configuration.
"""

FileWriter = Callable[[str, str], str]
"""Writes a text to a private file of this name, which exists as long as the server; returns the
file's path.
"""

_TRIGGERS = [" ", ":", "[", "{", ",", "."]
_WATCHED = "**/*.{yaml,yml,json,toml}"
_log = logging.getLogger(__name__)


def _as_function(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method as a function: pygls sets attributes, which methods do not allow."""

    async def call_async(*arguments: Any) -> Any:
        return await method(*arguments)

    def call(*arguments: Any) -> Any:
        return method(*arguments)

    return call_async if asyncio.iscoroutinefunction(method) else call


_QUESTIONS: dict[str, Callable[[OpenDocument, Any], Any]] = {
    lsp.TEXT_DOCUMENT_COMPLETION: lambda opened, params: completion.complete(
        opened, params.position
    ),
    lsp.TEXT_DOCUMENT_HOVER: lambda opened, params: hover.hover(opened, params.position),
    lsp.TEXT_DOCUMENT_DEFINITION: lambda opened, params: definition.definition(
        opened, params.position
    ),
    lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL: lambda opened, _: symbols.symbols(opened),
    lsp.TEXT_DOCUMENT_INLAY_HINT: lambda opened, params: lenses.inlay_hints(opened, params.range),
    lsp.TEXT_DOCUMENT_CODE_LENS: lambda opened, _: lenses.code_lenses(opened),
}
"""What requests ask of the text that they name, by method."""


class Server:
    """One connection to one editor."""

    def __init__(self, make: SurroundingsFactory, keep: FileWriter) -> None:
        self._make = make
        self._keep = keep
        self._worker = BackgroundWorker()
        self._texts: Texts | None = None
        self._publishing: dict[str, asyncio.Task[None]] = {}
        self._pending_answers: set[asyncio.Task[Any]] = set()
        self._configuration: Json = {}
        self.pygls = LanguageServer(
            "ptcompile", __version__, text_document_sync_kind=lsp.TextDocumentSyncKind.Full
        )
        self._register()

    def _register(self) -> None:
        notifications: dict[str, Callable[..., Any]] = {
            lsp.INITIALIZE: self._initialize,
            lsp.INITIALIZED: self._initialized,
            lsp.SHUTDOWN: self._shutdown,
            lsp.TEXT_DOCUMENT_DID_OPEN: self._changed,
            lsp.TEXT_DOCUMENT_DID_CHANGE: self._changed,
            lsp.TEXT_DOCUMENT_DID_SAVE: self._saved,
            lsp.TEXT_DOCUMENT_DID_CLOSE: self._closed,
            lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES: self._files_changed,
            lsp.WORKSPACE_DID_CHANGE_CONFIGURATION: self._configured,
            lsp.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: self._configured,
        }
        questions = {name: self._answer_by(question) for name, question in _QUESTIONS.items()}
        kinds: list[lsp.CodeActionKind | str] = [lsp.CodeActionKind.QuickFix, actions.FIX_ALL]
        options = {
            lsp.TEXT_DOCUMENT_COMPLETION: lsp.CompletionOptions(trigger_characters=_TRIGGERS),
            lsp.TEXT_DOCUMENT_CODE_ACTION: lsp.CodeActionOptions(code_action_kinds=kinds),
        }
        for name, method in {
            **notifications,
            **questions,
            lsp.TEXT_DOCUMENT_CODE_ACTION: self._actions,
        }.items():
            self.pygls.feature(name, options.get(name))(_as_function(method))

        self.pygls.command(lenses.SHOW_MANIFESTS)(_as_function(self._show_manifests))
        self.pygls.command(lenses.CHOOSE_TARGET)(_as_function(self._choose_target))
        self.pygls.command(lenses.SHOW_PODS)(_as_function(self._show_pods))
        self.pygls.command("ptcompile.explainPage")(_as_function(self._explain_page))

    def _initialize(self, params: lsp.InitializeParams) -> None:
        self._configuration = as_mapping(params.initialization_options)
        self._texts = self._new_texts()

    def _new_texts(self) -> Texts:
        workspace = self.pygls.workspace
        uris = [folder.uri for folder in workspace.folders.values()] or [workspace.root_uri]
        folders = [path for uri in uris if uri and (path := to_fs_path(uri)) is not None]
        encoding = workspace.position_encoding

        return Texts(
            self._make(folders, self._configuration),
            str(getattr(encoding, "value", encoding) or "utf-16"),
        )

    def _initialized(self, params: lsp.InitializedParams) -> None:
        """Ask the client to report changed files, if it can."""
        workspace = self.pygls.client_capabilities.workspace
        watching = workspace.did_change_watched_files if workspace is not None else None
        if watching is not None and watching.dynamic_registration:
            options = lsp.DidChangeWatchedFilesRegistrationOptions(
                [lsp.FileSystemWatcher(_WATCHED)]
            )
            method = lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES
            self.pygls.client_register_capability(
                lsp.RegistrationParams([lsp.Registration("files", method, options)]), lambda _: None
            )

        asyncio.ensure_future(self._worker.run(warm_up))  # noqa: RUF006 - the worker holds it

    async def _shutdown(self, *_: object) -> None:
        """Cancel pending questions to the user first: pygls fails to end the connection while a
        command runs.
        """
        for task in list(self._pending_answers):
            task.cancel()
        await asyncio.gather(*self._pending_answers, return_exceptions=True)
        await asyncio.sleep(0)
        self._worker.close()

    def _changed(
        self, params: lsp.DidOpenTextDocumentParams | lsp.DidChangeTextDocumentParams
    ) -> None:
        self._publish(params.text_document.uri)

    def _closed(self, params: lsp.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        if (task := self._publishing.pop(uri, None)) is not None:
            task.cancel()
        if (texts := self._texts) is not None:
            asyncio.ensure_future(self._worker.run(lambda _: texts.close(uri)))  # noqa: RUF006 - the worker holds it
        self.pygls.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))

    def _saved(self, params: lsp.DidSaveTextDocumentParams) -> None:
        """Refresh all open texts after a change to a configuration, a profile or objects that
        other files refer to.
        """
        document = self.pygls.workspace.get_text_document(params.text_document.uri)
        decides = "ClusterProfile" in document.source or any(
            kind in document.source for kind in NAMED
        )
        if decides or not document.path.endswith((".yaml", ".yml", ".json")):
            self._files_changed(params)

    def _files_changed(self, params: object) -> None:
        """Discard all analyses after a change on disk."""
        self._refresh(lambda texts: texts.forget())

    def _configured(self, params: object) -> None:
        settings = getattr(params, "settings", None)
        if isinstance(settings, Mapping):
            settings = settings.get("ptcompile", settings)
        if isinstance(settings, Mapping):
            self._configuration = settings
        self._texts = self._new_texts()
        self._refresh(lambda texts: None)

    def _refresh(self, first: Callable[[Texts], None]) -> None:
        texts = self._texts
        if texts is None:
            return
        asyncio.ensure_future(self._worker.run(lambda _: first(texts)))  # noqa: RUF006 - the worker holds it
        for uri in list(self.pygls.workspace.text_documents):
            self._publish(uri)

    def _publish(self, uri: str) -> None:
        """Publish the findings of a text, replacing a pending publication."""
        if (task := self._publishing.get(uri)) is not None:
            task.cancel()
        self._publishing[uri] = asyncio.ensure_future(self._publish_findings(uri))

    async def _publish_findings(self, uri: str) -> None:
        version = self.pygls.workspace.get_text_document(uri).version
        try:
            diagnostics = await self._analyze(uri, actions.diagnostics)
        except Exception:
            # internal error: keep the findings on screen and the server running
            _log.exception("no findings for %s", uri)
            return
        self.pygls.text_document_publish_diagnostics(
            lsp.PublishDiagnosticsParams(uri, diagnostics, version)
        )

    async def _analyze(self, uri: str, question: Callable[[OpenDocument], _T]) -> _T:
        """Return the result of `question` for the current text."""
        texts = self._texts
        document = self.pygls.workspace.get_text_document(uri)
        text = document.source
        path = to_fs_path(uri) or uri
        if texts is None:
            raise RuntimeError("the server is not initialized")

        try:
            return await self._worker.run(lambda pause: question(texts.get(uri, path, text, pause)))
        except Stopped:
            raise asyncio.CancelledError from None

    def _answer_by(
        self, question: Callable[[OpenDocument, Any], Any]
    ) -> Callable[[Any], Awaitable[Any]]:
        """Return the method that answers requests about a text by this question."""

        async def answer(params: Any) -> Any:
            return await self._analyze(
                params.text_document.uri, lambda opened: question(opened, params)
            )

        return answer

    async def _actions(self, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        uri = params.text_document.uri
        only = params.context.only
        kinds = None if only is None else {str(getattr(kind, "value", kind)) for kind in only}
        workspace = self.pygls.client_capabilities.workspace
        edit = workspace.workspace_edit if workspace is not None else None
        version = None
        # a client that accepts edits for a version can reject those of outdated text
        if edit is not None and edit.document_changes:
            version = self.pygls.workspace.get_text_document(uri).version
        return await self._analyze(
            uri, lambda opened: actions.actions(opened, params.range, kinds, version)
        )

    async def _show_manifests(self, uri: str, number: int, target: str) -> JsonDict | None:
        return await self._show(
            self._analyze(uri, lambda opened: lenses.manifests(opened, number, target))
        )

    async def _choose_target(self, uri: str, number: int) -> JsonDict | None:
        """Ask the user for a target, then show its manifests."""
        names = [lsp.MessageActionItem(name) for name in TARGETS]
        question = lsp.ShowMessageRequestParams(
            lsp.MessageType.Info, "Show the manifests for which target?", names
        )
        answer = asyncio.ensure_future(self.pygls.window_show_message_request_async(question))
        self._pending_answers.add(answer)
        answer.add_done_callback(self._pending_answers.discard)
        try:
            chosen = await answer
        except asyncio.CancelledError:
            return None

        if chosen is None:
            return None

        return await self._show_manifests(uri, number, chosen.title)

    async def _show_pods(self, uri: str, number: int) -> JsonDict | None:
        return await self._show(self._analyze(uri, lambda opened: lenses.pods(opened, number)))

    async def _explain_page(self, uri: str, scheme: str = "") -> JsonDict:
        return (await self._analyze(uri, lambda opened: lenses.page(opened, scheme))).to_dict()

    async def _show(self, view_request: Awaitable[TextView | None]) -> JsonDict | None:
        """Open a text in the editor if the client can, and return the text."""
        view = await view_request
        window = self.pygls.client_capabilities.window
        if view is not None and window is not None and window.show_document is not None:
            uri = from_fs_path(await asyncio.to_thread(self._keep, view.name, view.text))
            if uri is not None:
                self.pygls.window_show_document(
                    lsp.ShowDocumentParams(uri, take_focus=True), lambda _: None
                )

        return view.to_dict() if view is not None else None
