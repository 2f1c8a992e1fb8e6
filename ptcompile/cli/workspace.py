"""The language server's view of the disk: the configuration that lint would use and the objects
that other files define.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress

from ptcompile._internal import files as disk
from ptcompile._internal.files import SUFFIXES
from ptcompile.api.options import LintOptions
from ptcompile.cli import config as configuration, files
from ptcompile.cli.baseline import without_known
from ptcompile.cli.config import Config
from ptcompile.cli.exclude import exclusions
from ptcompile.cli.files import UsageError, kustomizations_near
from ptcompile.kubernetes.unstructured import Json
from ptcompile.kubernetes.versions import parse_version
from ptcompile.server.workspace import NAMED, FileSettings, WorkspaceFile

_MAX_FILES = 5_000
"""Limit of the workspace's files that are read."""
_MAX_FOLDER_FILES = 1_000
"""Limit of the files next to an open one that are read."""
_MAX_FILE_BYTES = 1 << 20
"""Size limit of these files; larger ones are ignored."""
_KIND_WORDS = tuple(kind.encode() for kind in sorted(NAMED))
_OPTIONS = {"cluster": str, "config": str, "ignore": list, "kubernetesVersion": str, "select": list}
"""Client options and their types; others are ignored."""


class Workspace:
    """The folders that an editor has open, and its settings, which override the configuration
    file.
    """

    def __init__(self, folders: list[str], client_options: Json) -> None:
        self._folders = [os.path.abspath(folder) for folder in folders]
        self._client_options = {
            name: client_options[name]
            for name, kind in _OPTIONS.items()
            if isinstance(client_options.get(name), kind)
        }
        self._settings: dict[str, tuple[Config, FileSettings, Callable[[str], bool]]] = {}
        self._files: tuple[WorkspaceFile, ...] | None = None
        self._read: dict[str, tuple[tuple[int, int], bytes | None]] = {}
        self._files_by_folder: dict[str, tuple[WorkspaceFile, ...]] = {}

    def changed(self) -> None:
        """Read the configuration and the folders again on the next use."""
        self._settings.clear()
        self._files = None
        self._files_by_folder.clear()

    def settings(self, path: str) -> FileSettings:
        """Return the settings for a file, from the configuration that `ptcompile lint` would use in
        the workspace's folder.
        """
        inside = next((folder for folder in self._folders if _is_within(path, folder)), None)
        start = inside or os.path.dirname(path) or "."
        if start not in self._settings:
            config, settings = self._load_settings(start)
            self._settings[start] = config, settings, exclusions(config, [start])
        config, settings, excluded = self._settings[start]
        is_excluded = bool(config.exclude or config.extend_exclude) and excluded(path)
        options = config.lint_options(path, settings.options.profile)

        return settings._replace(
            options=options, excluded=is_excluded, in_folder=inside is not None
        )

    def _load_settings(self, start: str) -> tuple[Config, FileSettings]:
        """Return the settings of a folder; if its configuration or profile cannot be used, they
        contain the error and the defaults.
        """
        try:
            filename = self._client_options.get("config")
            loaded = configuration.load(
                os.path.join(start, filename) if filename else None, start=start
            )
            config = self._with_client_options(loaded, start)
            if config.kubernetes_version is not None:
                parse_version(config.kubernetes_version)
            if config.schemas:
                from ptcompile.apiserver.crds.loader import read_definitions

                read_definitions(config.schemas)
        except (UsageError, ValueError) as error:
            return Config(), FileSettings(error=f"ptcompile ignores its configuration: {error}")

        try:
            settings = _profile_settings(config)
        except UsageError as error:
            settings = FileSettings(error=f"ptcompile uses its default profile: {error}")

        try:
            return config, settings._replace(without_known=without_known(config))
        except UsageError as error:
            return config, settings._replace(error=f"ptcompile ignores the baseline: {error}")

    def _with_client_options(self, config: Config, start: str) -> Config:
        """Return the configuration with the editor's settings applied, as the command line's
        options would be.
        """
        from ptcompile.diagnostics.selection import selected_names

        select, ignore = (
            tuple(map(str, self._client_options.get(name, ()))) for name in ("select", "ignore")
        )
        selected_names([*select, *ignore], config.codes)
        cluster = self._client_options.get("cluster")

        return config._replace(
            select=select or config.select,
            ignore=(*config.ignore, *ignore),
            cluster=configuration.profile_in(start, cluster) if cluster else config.cluster,
            kubernetes_version=self._client_options.get("kubernetesVersion")
            or config.kubernetes_version,
        )

    def files(self) -> tuple[WorkspaceFile, ...]:
        """Return the files with objects that other files may refer to; changed files are read
        again.
        """
        if self._files is None:
            self._files = tuple(
                WorkspaceFile(path, content)
                for path in self._paths()
                if (content := self._read_if_relevant(path)) is not None
            )
        return self._files

    def earlier_files(self, path: str) -> tuple[WorkspaceFile, ...]:
        """Return the files of the same folder that lint reads before this one, which may define
        the same objects.
        """
        folder = os.path.dirname(path)
        if folder not in self._files_by_folder:
            self._files_by_folder[folder] = tuple(self._read_folder(folder))
        return tuple(file for file in self._files_by_folder[folder] if file.path < path)

    def _read_folder(self, folder: str) -> Iterator[WorkspaceFile]:
        """Yield the files of a folder in the workspace, unless a kustomization combines them."""
        if not any(
            _is_within(os.path.join(folder, ""), top) for top in self._folders
        ) or kustomizations_near(folder):
            return

        names: list[str] = []
        with suppress(OSError):
            names = sorted(name for name in os.listdir(folder) if name.endswith(SUFFIXES))
        for path in (os.path.join(folder, name) for name in names[:_MAX_FOLDER_FILES]):
            with suppress(OSError):
                content = disk.read_found(path, _MAX_FILE_BYTES)
                if len(content) <= _MAX_FILE_BYTES and not self.settings(path).excluded:
                    yield WorkspaceFile(path, content)

    def _paths(self) -> Iterator[str]:
        """Yield the files of all folders, up to the limit."""
        remaining = _MAX_FILES
        for folder in self._folders:
            self.settings(os.path.join(folder, "any.yaml"))
            _, _, excluded = self._settings[folder]
            for path in files.walk(folder, excluded):
                if remaining == 0:
                    return
                remaining -= 1
                yield path

    def _read_if_relevant(self, path: str) -> bytes | None:
        """Return the bytes of a file that names one of the kinds, or None for other files and
        unreadable ones.
        """
        try:
            now = os.stat(path)
            stamp = now.st_mtime_ns, now.st_size
            if path not in self._read or self._read[path][0] != stamp:
                content = disk.read_found(path, _MAX_FILE_BYTES)
                is_relevant = len(content) <= _MAX_FILE_BYTES and any(
                    word in content for word in _KIND_WORDS
                )
                self._read[path] = stamp, content if is_relevant else None
        except OSError:
            return None

        return self._read[path][1]


def _is_within(path: str, folder: str) -> bool:
    return path.startswith(os.path.join(folder, ""))


def _profile_settings(config: Config) -> FileSettings:
    """Return settings with the profile that the configuration names. Raises `UsageError` if it
    is wrong.
    """
    if config.cluster is None:
        return FileSettings()

    from ptcompile.compiler.reader import load_profile

    content = files.read(config.cluster)
    profile, diagnostics = load_profile(content, filename=config.cluster)
    if profile is None:
        reason = next(
            (diagnostic.message for diagnostic in diagnostics if diagnostic.severity == "error"),
            "it cannot be read",
        )
        raise UsageError(f"{config.cluster}: invalid profile: {reason}")

    return FileSettings(LintOptions(profile), config.cluster, content)
