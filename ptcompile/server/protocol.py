"""The language server over pygls: features, the worker thread, warming up.

Everything is worked out on one thread beside the one that reads messages, so that a request can be cancelled, and the
findings of a text that was typed over are not waited for.
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
from ptcompile.registry.targets import TARGETS
from ptcompile.server import completion, definition, diagnostics as actions, hover, lenses, symbols
from ptcompile.server.document import OpenDocument, Texts
from ptcompile.server.lenses import Shown, manifests
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
    """Ask everything of a spec for every target, and of what it compiles to."""
    everywhere = Range(Position(0, 0), Position(100, 0))
    for target in TARGETS:
        spec = OpenDocument("", "", _SPEC.replace("TARGET", target), pause=pause)
        shown = manifests(spec, 0, None)
        for one in (spec, OpenDocument("", "", shown.text if shown is not None else "", pause=pause)):
            actions.diagnostics(one)
            symbols.symbols(one)
            lenses.inlay_hints(one, everywhere)
            lenses.code_lenses(one)
            actions.actions(one, everywhere, None, None)
            hover.hover(one, Position(4, 3))
            definition.definition(one, Position(4, 12))
            completion.complete(one, Position(5, 2))
            pause()
    gc.collect()
    gc.freeze()  # modules and schemas stay: no later collection looks at them


class Stopped(Exception):  # noqa: N818 - no error: the answer is not wanted any more
    """Raised within work that was cancelled, at its next pause."""


class BackgroundWorker:
    """Runs one thing at a time, so that what it works on needs no locks."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="ptcompile")

    async def run(self, work: Callable[[Callable[[], None]], _T]) -> _T:
        """The result of `work`, which is given a `pause` to call now and then.

        When the awaiting task is cancelled, work that has not begun is not done, and work that has ends at its next
        pause.
        """
        stopped = Event()

        def pause() -> None:
            if stopped.is_set():
                raise Stopped

        def begin() -> _T:
            pause()
            return work(pause)

        try:
            return await asyncio.wrap_future(self._pool.submit(begin))
        except asyncio.CancelledError:
            stopped.set()
            raise

    def close(self) -> None:
        """Begin nothing more."""
        self._pool.shutdown(wait=False, cancel_futures=True)


_T = TypeVar("_T")

Make = Callable[[list[str], Mapping[str, Any]], Surroundings]
"""From the folders of the workspace and what the client configures to what the server is told."""

Keep = Callable[[str, str], str]
"""Writes a text into a private file of this name that lasts as long as the server; the file's path."""

_TRIGGERS = [" ", ":", "[", "{", ",", "."]
_WATCHED = "**/*.{yaml,yml,json,toml}"
_log = logging.getLogger(__name__)


def _function(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method as a function: pygls sets attributes, which a method cannot have."""

    async def answered(*given: Any) -> Any:
        return await method(*given)

    def called(*given: Any) -> Any:
        return method(*given)

    return answered if asyncio.iscoroutinefunction(method) else called


class Server:
    """One connection to one editor."""

    def __init__(self, make: Make, keep: Keep) -> None:
        self._make, self._keep = make, keep
        self._worker = BackgroundWorker()
        self._texts: Texts | None = None
        self._publishing: dict[str, asyncio.Task[None]] = {}
        self._asking: set[asyncio.Task[Any]] = set()
        self._given: Mapping[str, Any] = {}
        self.pygls = LanguageServer("ptcompile", __version__, text_document_sync_kind=lsp.TextDocumentSyncKind.Full)
        self._register()

    def _register(self) -> None:
        def feature(name: str, options: object = None) -> Callable[[Callable[..., Any]], object]:
            return lambda method: self.pygls.feature(name, options)(_function(method))

        feature(lsp.INITIALIZE)(self._initialize)
        feature(lsp.INITIALIZED)(self._initialized)
        feature(lsp.SHUTDOWN)(self._shutdown)
        feature(lsp.TEXT_DOCUMENT_DID_OPEN)(self._changed)
        feature(lsp.TEXT_DOCUMENT_DID_CHANGE)(self._changed)
        feature(lsp.TEXT_DOCUMENT_DID_SAVE)(self._saved)
        feature(lsp.TEXT_DOCUMENT_DID_CLOSE)(self._closed)
        feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)(self._elsewhere)
        feature(lsp.WORKSPACE_DID_CHANGE_CONFIGURATION)(self._configured)
        feature(lsp.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)(self._configured)
        feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=_TRIGGERS))(self._completion)
        feature(lsp.TEXT_DOCUMENT_HOVER)(self._hover)
        feature(lsp.TEXT_DOCUMENT_DEFINITION)(self._definition)
        feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)(self._symbols)
        feature(lsp.TEXT_DOCUMENT_INLAY_HINT)(self._hints)
        feature(lsp.TEXT_DOCUMENT_CODE_LENS)(self._lenses)
        kinds: list[lsp.CodeActionKind | str] = [lsp.CodeActionKind.QuickFix, actions.FIX_ALL]
        feature(lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions(code_action_kinds=kinds))(self._actions)
        self.pygls.command(lenses.SHOW_MANIFESTS)(_function(self._show_manifests))
        self.pygls.command(lenses.CHOOSE_TARGET)(_function(self._choose_target))
        self.pygls.command(lenses.SHOW_PODS)(_function(self._show_pods))
        self.pygls.command("ptcompile.explainPage")(_function(self._explain_page))

    # What the client says

    def _initialize(self, params: lsp.InitializeParams) -> None:
        options = params.initialization_options
        self._given = options if isinstance(options, Mapping) else {}
        self._texts = self._new_texts()

    def _new_texts(self) -> Texts:
        workspace = self.pygls.workspace
        uris = [folder.uri for folder in workspace.folders.values()] or (
            [workspace.root_uri] * bool(workspace.root_uri)
        )
        folders = [path for uri in uris if uri is not None and (path := to_fs_path(uri)) is not None]
        encoding = workspace.position_encoding
        return Texts(self._make(folders, self._given), str(getattr(encoding, "value", encoding) or "utf-16"))

    def _initialized(self, params: lsp.InitializedParams) -> None:
        """Ask to be told of changed files, of a client that can."""
        workspace = self.pygls.client_capabilities.workspace
        watching = workspace.did_change_watched_files if workspace is not None else None
        if watching is not None and watching.dynamic_registration:
            options = lsp.DidChangeWatchedFilesRegistrationOptions([lsp.FileSystemWatcher(_WATCHED)])
            method = lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES
            self.pygls.client_register_capability(
                lsp.RegistrationParams([lsp.Registration("files", method, options)]), lambda _: None
            )

        asyncio.ensure_future(self._worker.run(warm_up))  # noqa: RUF006 - the worker holds it

    async def _shutdown(self, *_: object) -> None:
        """End what waits for a person's answer first: pygls fails to end the connection while a command runs."""
        for task in list(self._asking):
            task.cancel()
        await asyncio.gather(*self._asking, return_exceptions=True)
        await asyncio.sleep(0)
        self._worker.close()

    def _changed(self, params: lsp.DidOpenTextDocumentParams | lsp.DidChangeTextDocumentParams) -> None:
        self._publish(params.text_document.uri)

    def _closed(self, params: lsp.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        if (task := self._publishing.pop(uri, None)) is not None:
            task.cancel()
        if (texts := self._texts) is not None:
            asyncio.ensure_future(self._worker.run(lambda _: texts.close(uri)))  # noqa: RUF006 - the worker holds it
        self.pygls.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))

    def _saved(self, params: lsp.DidSaveTextDocumentParams) -> None:
        """A configuration, a profile, or objects that others name: every open text may have other findings."""
        document = self.pygls.workspace.get_text_document(params.text_document.uri)
        decides = "ClusterProfile" in document.source or any(kind in document.source for kind in NAMED)
        if decides or not document.path.endswith((".yaml", ".yml", ".json")):
            self._elsewhere(params)

    def _elsewhere(self, params: object) -> None:
        """Files on the disk are not what they were."""
        self._again(lambda texts: texts.forget())

    def _configured(self, params: object) -> None:
        settings = getattr(params, "settings", None)
        own = settings.get("ptcompile", settings) if isinstance(settings, Mapping) else None
        self._given = own if isinstance(own, Mapping) else self._given
        self._texts = self._new_texts()
        self._again(lambda texts: None)

    def _again(self, first: Callable[[Texts], None]) -> None:
        texts = self._texts
        if texts is None:
            return
        asyncio.ensure_future(self._worker.run(lambda _: first(texts)))  # noqa: RUF006 - the worker holds it
        for uri in list(self.pygls.workspace.text_documents):
            self._publish(uri)

    # What the server says

    def _publish(self, uri: str) -> None:
        """Publish the findings of a text, in place of those that are still being looked for."""
        if (task := self._publishing.get(uri)) is not None:
            task.cancel()
        self._publishing[uri] = asyncio.ensure_future(self._find(uri))

    async def _find(self, uri: str) -> None:
        version = self.pygls.workspace.get_text_document(uri).version
        try:
            found = await self._ask(uri, actions.diagnostics)
        except Exception:  # our fault: what is shown stays, and the server goes on
            _log.exception("no findings for %s", uri)
            return
        self.pygls.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, found, version))

    async def _ask(self, uri: str, question: Callable[[OpenDocument], _T]) -> _T:
        """The answer to a question about a text as it is now."""
        texts = self._texts
        document = self.pygls.workspace.get_text_document(uri)
        text, path = document.source, to_fs_path(uri) or uri
        if texts is None:
            raise RuntimeError("the server is not initialized")
        try:
            return await self._worker.run(lambda pause: question(texts.get(uri, path, text, pause)))
        except Stopped:
            raise asyncio.CancelledError from None

    async def _completion(self, params: lsp.CompletionParams) -> lsp.CompletionList:
        return await self._ask(params.text_document.uri, lambda one: completion.complete(one, params.position))

    async def _hover(self, params: lsp.HoverParams) -> lsp.Hover | None:
        return await self._ask(params.text_document.uri, lambda one: hover.hover(one, params.position))

    async def _definition(self, params: lsp.DefinitionParams) -> list[lsp.Location]:
        return await self._ask(params.text_document.uri, lambda one: definition.definition(one, params.position))

    async def _symbols(self, params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        return await self._ask(params.text_document.uri, symbols.symbols)

    async def _hints(self, params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
        return await self._ask(params.text_document.uri, lambda one: lenses.inlay_hints(one, params.range))

    async def _lenses(self, params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
        return await self._ask(params.text_document.uri, lenses.code_lenses)

    async def _actions(self, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        uri, only = params.text_document.uri, params.context.only
        kinds = None if only is None else {str(getattr(kind, "value", kind)) for kind in only}
        version = self.pygls.workspace.get_text_document(uri).version if self._versioned() else None
        return await self._ask(uri, lambda one: actions.actions(one, params.range, kinds, version))

    def _versioned(self) -> bool:
        """Whether the client takes edits of a version of a text, and so none of a text that was typed over."""
        workspace = self.pygls.client_capabilities.workspace
        edit = workspace.workspace_edit if workspace is not None else None
        return bool(edit is not None and edit.document_changes)

    # Commands

    async def _show_manifests(self, uri: str, number: int, target: str) -> dict[str, Any] | None:
        return await self._show(self._ask(uri, lambda one: lenses.manifests(one, number, target)))

    async def _choose_target(self, uri: str, number: int) -> dict[str, Any] | None:
        """Ask for the target first."""
        names = [lsp.MessageActionItem(name) for name in TARGETS]
        asked = lsp.ShowMessageRequestParams(lsp.MessageType.Info, "Show the manifests for which target?", names)
        asking = asyncio.ensure_future(self.pygls.window_show_message_request_async(asked))
        self._asking.add(asking)
        asking.add_done_callback(self._asking.discard)
        try:
            chosen = await asking
        except asyncio.CancelledError:
            return None
        return None if chosen is None else await self._show_manifests(uri, number, chosen.title)

    async def _show_pods(self, uri: str, number: int) -> dict[str, Any] | None:
        return await self._show(self._ask(uri, lambda one: lenses.pods(one, number)))

    async def _explain_page(self, uri: str) -> dict[str, Any]:
        return (await self._ask(uri, lenses.page)).to_dict()

    async def _show(self, asked: Awaitable[Shown | None]) -> dict[str, Any] | None:
        """Open a text in the editor, where that can; the text in any case."""
        shown = await asked
        window = self.pygls.client_capabilities.window
        if shown is not None and window is not None and window.show_document is not None:
            path = await asyncio.to_thread(self._keep, shown.name, shown.text)
            where = from_fs_path(path)
            if where is not None:
                self.pygls.window_show_document(lsp.ShowDocumentParams(where, take_focus=True), lambda _: None)
        return shown.to_dict() if shown is not None else None
