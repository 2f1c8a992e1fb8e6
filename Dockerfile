# ptcompile in a slim image, without a compiler: docker build -t ptcompile .
#   docker run --rm --read-only --network none -v "$PWD:/work:ro" ptcompile lint manifests/
# As a KRM function, which reads standard input: docker build --target krm -t ptcompile-krm .
# BASE may be any image with Python 3.11 or newer and its modules venv and pip. .ci/image builds and runs both.
ARG BASE=python:3.13-slim-trixie@sha256:9d2e5553305c7c7b0097999bb17187c69b921ccd6bc9d40e4bb5ebe652c00285

# hadolint ignore=DL3006
FROM ${BASE} AS build
WORKDIR /src
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore
COPY .ci/locks/image.lock .ci/locks/hatchling.lock .ci/locks/
RUN python3 -m venv /opt/ptcompile && python3 -m venv /opt/build \
  && /opt/ptcompile/bin/python -m pip install --only-binary :all: --require-hashes -r .ci/locks/image.lock \
  && /opt/build/bin/python -m pip install --only-binary :all: --require-hashes -r .ci/locks/hatchling.lock
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY ptcompile ptcompile
COPY schemas schemas
COPY integrations/torchx/torchx_plugins integrations/torchx/torchx_plugins
RUN /opt/build/bin/python -m pip wheel --no-deps --no-build-isolation --wheel-dir /wheels . \
  && /opt/ptcompile/bin/python -m pip install --no-deps /wheels/*.whl \
  && /opt/ptcompile/bin/python -m pip uninstall --yes pip \
  && /opt/ptcompile/bin/python -m compileall -q /opt/ptcompile

# hadolint ignore=DL3006
FROM ${BASE} AS ptcompile
COPY --from=build /opt/ptcompile /opt/ptcompile
ENV PATH=/opt/ptcompile/bin:$PATH PYTHONDONTWRITEBYTECODE=1
USER 65532:65532
WORKDIR /work
ENTRYPOINT ["ptcompile"]
CMD ["--help"]

FROM ptcompile AS krm
ENTRYPOINT ["ptcompile", "krm"]
CMD []

FROM ptcompile
