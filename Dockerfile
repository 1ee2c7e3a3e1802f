# The base needs Python 3.11 or newer with venv, as `python3`.
ARG BASE=python:3.13-slim

FROM ${BASE} AS pip
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PATH=/opt/pip/bin:$PATH
RUN python3 -m venv /opt/pip
WORKDIR /src
COPY constraints.txt .

# The example agent of docker-compose.yml; the image that ships takes nothing from here.
FROM pip AS agent
RUN --mount=type=secret,id=pipconf,target=/etc/pip.conf,required=false \
    --mount=type=secret,id=ca,target=/etc/ssl/certs/ca-certificates.crt,required=false \
    pip install --quiet --constraint constraints.txt httpx openai
COPY examples/agent_openai.py .
USER 10001:10001
ENTRYPOINT ["python", "agent_openai.py"]

FROM pip AS build
# What your own tools import, as pip takes it: --build-arg PACKAGES="pandas sqlalchemy".
# For the toolkits `shell` and `python`: --build-arg PACKAGES="sidecall[sandbox,python]"; docs/deploy.md says what the
# container has to be allowed besides. Without it, what the sandbox needs is not in the image.
ARG PACKAGES=""
# The build back end is held to the constraints too: the first name is for pip before 25.3, the second for later ones.
ENV PIP_CONSTRAINT=/src/constraints.txt PIP_BUILD_CONSTRAINT=/src/constraints.txt
RUN python3 -m venv --without-pip /opt/sidecall
COPY pyproject.toml README.md LICENSE ./
COPY app app
COPY tools tools
# Compiled files that are never checked against their sources need no writing at run time, however layers are unpacked.
RUN --mount=type=secret,id=pipconf,target=/etc/pip.conf,required=false \
    --mount=type=secret,id=ca,target=/etc/ssl/certs/ca-certificates.crt,required=false \
    pip --python /opt/sidecall/bin/python install --quiet --no-compile . ${PACKAGES} \
    && python3 -m compileall -q --invalidation-mode unchecked-hash /opt/sidecall/lib

FROM ${BASE} AS sidecall
LABEL org.opencontainers.image.title="Sidecall" \
      org.opencontainers.image.description="Run the tools of AI agents behind plain HTTP." \
      org.opencontainers.image.licenses="MIT"
# Some bases bring pip; nothing here installs packages any more.
RUN if python3 -m pip --version >/dev/null 2>&1; then python3 -m pip uninstall --quiet --yes pip; fi
COPY --from=build /opt/sidecall /opt/sidecall
ENV PATH=/opt/sidecall/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 \
    SIDECALL_HOST=0.0.0.0 SIDECALL_PORT=8000
# For a volume with the store: a new one of Docker's takes its owner from here.
RUN install -d -m 0700 -o 10001 -g 10001 /var/lib/sidecall
# Without a folder /srv/tools, the tools that ship are served.
WORKDIR /srv
USER 10001:10001
EXPOSE 8000
STOPSIGNAL SIGTERM
# http.client, unlike urllib, asks no proxy that tools may need.
HEALTHCHECK --interval=5s --timeout=3s --start-period=30s --retries=3 CMD ["python", "-c", "\
import http.client, os; \
probe = http.client.HTTPConnection('127.0.0.1', int(os.environ['SIDECALL_PORT'] or 8000), timeout=2); \
probe.request('GET', '/readyz'); \
raise SystemExit(probe.getresponse().status != 200)"]
ENTRYPOINT ["sidecall"]
CMD ["serve"]
