"""What the language server is told of the disk: the configuration as lint finds it, and what other files define."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping

from ptcompile._internal import files as disk
from ptcompile.cli import config as configuration, files
from ptcompile.cli.config import Config
from ptcompile.cli.exclude import exclusions
from ptcompile.cli.files import UsageError
from ptcompile.kubernetes.versions import parse_version
from ptcompile.server.workspace import NAMED, FileSettings, WorkspaceFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

_MOST: Final = 5_000
"""Files of a workspace that are looked into."""
_LARGEST: Final = 1 << 20
"""A file with more bytes than this is not looked into."""
_WORDS: Final = tuple(kind.encode() for kind in sorted(NAMED))
_OPTIONS: Final = {"cluster": str, "config": str, "ignore": list, "kubernetesVersion": str, "select": list}
"""What a client may configure, and of which type it is; anything else is left alone."""


class Workspace:
    """The folders that an editor has open, and what its settings say beside the configuration file."""

    def __init__(self, folders: list[str], given: Mapping[str, Any]) -> None:
        self._folders = [os.path.abspath(folder) for folder in folders]
        self._given = {name: given[name] for name, kind in _OPTIONS.items() if isinstance(given.get(name), kind)}
        self._settings: dict[str, tuple[Config, FileSettings, Callable[[str], bool]]] = {}
        self._found: tuple[WorkspaceFile, ...] | None = None
        self._read: dict[str, tuple[tuple[int, int], bytes | None]] = {}

    def changed(self) -> None:
        """Read the configuration and the folders again when they are needed."""
        self._settings.clear()
        self._found = None

    def settings(self, path: str) -> FileSettings:
        """How a file is looked at: by the configuration that `ptcompile lint` would find in the workspace's folder."""
        start = next((folder for folder in self._folders if _within(path, folder)), os.path.dirname(path) or ".")
        if start not in self._settings:
            config, settings = self._configured(start)
            self._settings[start] = config, settings, exclusions(config)
        config, settings, excluded = self._settings[start]
        left_out = bool(config.exclude or config.extend_exclude) and excluded(path)
        return settings._replace(ignore=(*settings.ignore, *config.ignored_in(path)), excluded=left_out)

    def _configured(self, start: str) -> tuple[Config, FileSettings]:
        """The settings of a folder; of one whose configuration cannot be used, why."""
        try:
            named = self._given.get("config")
            found = configuration.load(os.path.join(start, named) if named else None, start=start)
            config = self._with_given(found, start)
            if config.kubernetes_version is not None:
                parse_version(config.kubernetes_version)
            if config.schemas:
                from ptcompile.apiserver.crds.loader import read_definitions

                read_definitions(config.schemas)
            settings = _with_profile(config)
        except (UsageError, ValueError) as error:
            return Config(), FileSettings(wrong=f"ptcompile finds nothing here: {error}")
        selected = config.selected()
        return config, settings._replace(
            kubernetes=config.kubernetes_version,
            select=None if selected is None else tuple(selected),
            ignore=config.ignore,
            schemas=config.schemas,
        )

    def _with_given(self, config: Config, start: str) -> Config:
        """The configuration with the editor's settings laid over it, as the command line's options are."""
        from ptcompile.diagnostics.selection import selected_names

        select, ignore = (tuple(map(str, self._given.get(name, ()))) for name in ("select", "ignore"))
        selected_names([*select, *ignore])
        cluster = self._given.get("cluster")
        return config._replace(
            select=select or config.select,
            ignore=(*config.ignore, *ignore),
            cluster=os.path.join(start, cluster) if cluster else config.cluster,
            kubernetes_version=self._given.get("kubernetesVersion") or config.kubernetes_version,
        )

    def files(self) -> tuple[WorkspaceFile, ...]:
        """The files of the folders in which an object is that others name, read again where they changed."""
        if self._found is None:
            self._found = tuple(
                WorkspaceFile(path, content) for path in self._paths() if (content := self._content(path)) is not None
            )
        return self._found

    def _paths(self) -> Iterator[str]:
        left = _MOST
        for folder in self._folders:
            for path in files.walk(folder, exclusions(self._config_of(folder))):
                if left == 0:
                    return
                left -= 1
                yield path

    def _config_of(self, folder: str) -> Config:
        self.settings(os.path.join(folder, "any.yaml"))
        return self._settings[folder][0]

    def _content(self, path: str) -> bytes | None:
        """The bytes of a file that has one of the words; None for another one, and for one that cannot be read."""
        try:
            now = os.stat(path)
            stamp = now.st_mtime_ns, now.st_size
            if path not in self._read or self._read[path][0] != stamp:
                content = disk.read_found(path, _LARGEST)
                wanted = len(content) <= _LARGEST and any(word in content for word in _WORDS)
                self._read[path] = stamp, content if wanted else None
        except OSError:
            return None
        return self._read[path][1]


def _within(path: str, folder: str) -> bool:
    return path.startswith(os.path.join(folder, ""))


def _with_profile(config: Config) -> FileSettings:
    """The profile that the configuration names. Raises `UsageError` for one that is wrong."""
    if config.cluster is None:
        return FileSettings()
    from ptcompile.compiler.reader import load_profile

    content = files.read(config.cluster)
    profile, found = load_profile(content, filename=config.cluster)
    if profile is None:
        why = next((one.message for one in found if one.severity == "error"), "it cannot be read")
        raise UsageError(f"{config.cluster}: the profile is wrong: {why}")
    return FileSettings(profile, config.cluster, content)
