# The environment is made in one stage and copied to the other, which carries no build tools.
FROM python:3.13-slim AS build
WORKDIR /src
COPY locks/ locks/
RUN python -m venv /opt/build \
    && /opt/build/bin/pip install --no-cache-dir --require-hashes --no-deps -r locks/build.lock \
    && python -m venv --without-pip /opt/bough \
    && /opt/build/bin/uv pip sync --no-cache --compile-bytecode --require-hashes \
        --python /opt/bough/bin/python locks/run.lock
COPY pyproject.toml ./
COPY service/ service/
COPY migrations/ migrations/
RUN /opt/build/bin/hatchling build --target wheel --directory /dist \
    && /opt/build/bin/uv pip install --no-cache --compile-bytecode --no-index --no-deps \
        --python /opt/bough/bin/python /dist/*.whl
# For the processor of this machine; on another one the worker compiles anew when it starts.
RUN BOUGH_KERNEL_CACHE=/var/cache/bough /opt/bough/bin/bough warm

FROM python:3.13-slim
RUN useradd --system --uid 10001 --create-home --home-dir /var/lib/bough bough \
    && install --directory --owner=bough /var/lib/bough/datasets
COPY --from=build /opt/bough /opt/bough
COPY --from=build --chown=10001 /var/cache/bough /var/cache/bough
ENV PATH=/opt/bough/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    BOUGH_HOST=0.0.0.0 \
    BOUGH_PORT=8000 \
    BOUGH_DATA=/var/lib/bough \
    BOUGH_KERNEL_CACHE=/var/cache/bough
USER 10001
WORKDIR /var/lib/bough
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD \
    ["python", "-c", "import os, urllib.request as r; r.urlopen('http://127.0.0.1:' + os.environ['BOUGH_PORT'] + '/readyz', timeout=4)"]
CMD ["bough", "serve"]
